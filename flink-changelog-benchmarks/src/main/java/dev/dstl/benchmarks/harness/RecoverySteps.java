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

package dev.dstl.benchmarks.harness;

import dev.dstl.benchmarks.cluster.TaskStart;
import dev.dstl.benchmarks.measurement.RecoverySample;
import java.util.List;

/** Divides a recovery into steps, each of which ends when the last task has completed it. */
public final class RecoverySteps {

    private RecoverySteps() {}

    /**
     * Returns the steps of a recovery. The JobManager learns with a delay that a task runs; a step
     * that would end before it started has duration 0.
     *
     * @param killedAtMillis when the process was killed, in milliseconds since the epoch
     * @param starts start times of all tasks, at least one
     * @param firstRecordAtMillis when the last keyed task received its first record
     */
    public static RecoverySample between(
            long killedAtMillis, List<TaskStart> starts, long firstRecordAtMillis) {
        long deployed = starts.stream().mapToLong(TaskStart::deployedAtMillis).max().orElseThrow();
        long initializing =
                starts.stream().mapToLong(TaskStart::initializingAtMillis).max().orElseThrow();
        long running = starts.stream().mapToLong(TaskStart::runningAtMillis).max().orElseThrow();
        deployed = Math.min(deployed, firstRecordAtMillis);
        initializing = Math.min(Math.max(initializing, deployed), firstRecordAtMillis);
        running = Math.min(Math.max(running, initializing), firstRecordAtMillis);
        RecoverySample sample = new RecoverySample();
        sample.redeployMillis = deployed - killedAtMillis;
        sample.startMillis = initializing - deployed;
        sample.restoreMillis = running - initializing;
        sample.firstRecordMillis = firstRecordAtMillis - running;
        return sample;
    }
}
