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

/**
 * Output for users who wait for a run: permanent lines, and a line that shows progress. Used by one
 * thread.
 */
public interface Display extends AutoCloseable {

    /** Prints a permanent line. */
    void say(String line);

    /**
     * Shows progress.
     *
     * @param fraction fraction of the input that was read, in [0, 1]
     * @param state records, rate and checkpoints as text
     */
    void progress(double fraction, String state);

    /** Ends the progress line. */
    @Override
    void close();
}
