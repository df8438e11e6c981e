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

import dev.dstl.benchmarks.measurement.CheckpointSample;

/** What the JobManager says about a checkpoint that completed. Immutable. */
public final class CompletedCheckpoint {

    private final long id;
    private final long triggeredAtMillis;
    private final long durationMillis;
    private final long checkpointedBytes;
    private final long fullBytes;
    private final String path;

    CompletedCheckpoint(
            long id,
            long triggeredAtMillis,
            long durationMillis,
            long checkpointedBytes,
            long fullBytes,
            String path) {
        this.id = id;
        this.triggeredAtMillis = triggeredAtMillis;
        this.durationMillis = durationMillis;
        this.checkpointedBytes = checkpointedBytes;
        this.fullBytes = fullBytes;
        this.path = path;
    }

    /** As Flink counts them, from 1. */
    public long id() {
        return id;
    }

    /** Milliseconds since the epoch. */
    public long triggeredAtMillis() {
        return triggeredAtMillis;
    }

    /** From the trigger to the last acknowledgement. */
    public long durationMillis() {
        return durationMillis;
    }

    /** What this checkpoint added to the storage. */
    public long checkpointedBytes() {
        return checkpointedBytes;
    }

    /** All that this checkpoint refers to. */
    public long fullBytes() {
        return fullBytes;
    }

    /**
     * As a report keeps it.
     *
     * @param beginMillis the beginning of the measured window, milliseconds since the epoch
     */
    public CheckpointSample sample(long beginMillis) {
        CheckpointSample sample = new CheckpointSample();
        sample.id = id;
        sample.atMillis = triggeredAtMillis - beginMillis;
        sample.durationMillis = durationMillis;
        sample.checkpointedBytes = checkpointedBytes;
        sample.fullBytes = fullBytes;
        return sample;
    }

    /** Where it lies, for a restore. */
    public String path() {
        return path;
    }
}
