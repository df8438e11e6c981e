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

package dev.dstl.benchmarks.cluster;

import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.rest.messages.job.SubtaskExecutionAttemptDetailsInfo;

/**
 * The start of one attempt of a task, as seen by the JobManager, in milliseconds since the epoch.
 * Immutable.
 */
public final class TaskStart {

    private final long deployedAtMillis;
    private final long initializingAtMillis;
    private final long runningAtMillis;

    /** Creates a start; times are in milliseconds since the epoch. */
    public TaskStart(long deployedAtMillis, long initializingAtMillis, long runningAtMillis) {
        this.deployedAtMillis = deployedAtMillis;
        this.initializingAtMillis = initializingAtMillis;
        this.runningAtMillis = runningAtMillis;
    }

    static TaskStart of(SubtaskExecutionAttemptDetailsInfo subtask) {
        long deployed = subtask.getStartTime();
        long initializing =
                deployed + Math.max(0, subtask.getStatusDuration(ExecutionState.DEPLOYING));
        long running =
                initializing + Math.max(0, subtask.getStatusDuration(ExecutionState.INITIALIZING));
        return new TaskStart(deployed, initializing, running);
    }

    /** Returns when the task was sent to a TaskManager. */
    public long deployedAtMillis() {
        return deployedAtMillis;
    }

    /** Returns when the task started to restore its state. */
    public long initializingAtMillis() {
        return initializingAtMillis;
    }

    /** Returns when the state was restored. */
    public long runningAtMillis() {
        return runningAtMillis;
    }
}
