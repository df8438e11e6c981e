/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.log.simulation.invariant;

/** A checkpoint counts what the JobManager gets with it for the first time, and nothing else. */
public final class IncrementalSizes extends Invariant {

    @Override
    public void persisted(int runs, int newRuns, long bytes, long newBytes) {
        boolean matches =
                newRuns == 0
                        ? newBytes == 0
                        : newRuns == runs ? newBytes == bytes : newBytes > 0 && newBytes < bytes;
        if (!matches) {
            violated(
                    "%d of %d bytes are said to be new in a checkpoint with %d new runs of %d",
                    newBytes, bytes, newRuns, runs);
        }
    }
}
