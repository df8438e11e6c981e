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

package dev.dstl.benchmarks.display;

/** What the watcher of a run sees: lasting lines, and one line that changes. For one thread. */
public interface Display extends AutoCloseable {

    /** A line that stays. */
    void say(String line);

    /**
     * How far the run is.
     *
     * @param fraction of the input, in [0, 1]
     * @param state records, rate, checkpoints, as text
     */
    void progress(double fraction, String state);

    /** The changing line ends. */
    @Override
    void close();
}
