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

/** A completed checkpoint, as reported by the JobManager. Immutable. */
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

    /** Returns the checkpoint id. */
    public long id() {
        return id;
    }

    /** Returns the trigger time in milliseconds since the epoch. */
    public long triggeredAtMillis() {
        return triggeredAtMillis;
    }

    /** Returns the time from the trigger to the last acknowledgement in milliseconds. */
    public long durationMillis() {
        return durationMillis;
    }

    /** Returns the bytes that this checkpoint added to the storage. */
    public long checkpointedBytes() {
        return checkpointedBytes;
    }

    /** Returns the total bytes of the checkpoint. */
    public long fullBytes() {
        return fullBytes;
    }

    /**
     * Returns the checkpoint as a sample for a report.
     *
     * @param beginMillis start of the measured window in milliseconds since the epoch
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

    /** Returns the path of the checkpoint, for a restore. */
    public String path() {
        return path;
    }
}
