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

package dev.dstl.changelog.differential.history;

/** The type of a step in a history, and its frequency in percent. */
public enum StepType {
    OPERATE(47, "operation, operator, state, key, namespace, number"),
    FIRE(2, "operator, queue, time"),
    CLOCK(3, "seconds"),
    TRIGGER(10, "full"),
    ACKNOWLEDGE(9, "which, losses"),
    ACKNOWLEDGE_ALL(7, "which, losses"),
    ABORT(2, "which, losses"),
    MATERIALIZE(6, "subtask, operator, faulty"),
    END_MATERIALIZATION(5, "which"),
    FAIL(2, "worker, looked at"),
    RESCALE(2, "parallelism, looked at"),
    RESUBMIT(5, "source, claim mode, parallelism, changelog, generation, storage, looked at");

    private final int percent;
    private final String names;

    StepType(int percent, String names) {
        this.percent = percent;
        this.names = names;
    }

    /**
     * This type, or a step of a materialization instead of a restart: only tasks that live for long
     * materialize several times.
     */
    StepType whereTasksLive() {
        switch (this) {
            case FAIL:
                return MATERIALIZE;
            case RESUBMIT:
                return END_MATERIALIZATION;
            default:
                return this;
        }
    }

    int percent() {
        return percent;
    }

    /** Returns the names of its numbers. */
    String[] names() {
        return names.split(", ", -1);
    }
}
