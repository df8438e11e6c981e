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

package dev.dstl.changelog.differential;

import java.util.ArrayList;
import java.util.List;

/** The result of each step of a history, and the step that failed. */
final class Trace {

    private final List<String> lines = new ArrayList<>();
    private String running;

    /** Records the beginning of a step. */
    void begin(String step) {
        running = step;
    }

    /** Records the end of the step. */
    void end(String happened) {
        lines.add(running + ": " + happened);
        running = null;
    }

    /** Number of completed steps. */
    int stepsDone() {
        return lines.size();
    }

    /** One line for each step. */
    @Override
    public String toString() {
        String done = lines.isEmpty() ? "" : "  " + String.join("\n  ", lines) + "\n";
        return done + (running == null ? "" : "  FAILED " + running + "\n");
    }
}
