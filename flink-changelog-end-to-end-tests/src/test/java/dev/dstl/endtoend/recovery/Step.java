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

package dev.dstl.endtoend.recovery;

/** A step of a run, and its description. */
final class Step {

    private final String description;
    private final Action action;

    Step(String description, Action action) {
        this.description = description;
        this.action = action;
    }

    void take(OrderRun run) throws Exception {
        action.take(run);
    }

    @Override
    public String toString() {
        return description;
    }

    /** The action of a step. */
    interface Action {
        void take(OrderRun run) throws Exception;
    }
}
