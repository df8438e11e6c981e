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

package dev.dstl.benchmarks.report;

import dev.dstl.benchmarks.measurement.CheckpointSample;
import dev.dstl.benchmarks.measurement.RecoverySample;
import java.util.List;
import java.util.OptionalDouble;

/** The results of one run of the workload. Immutable; made by its {@link Builder}. */
public final class RunReport {

    private final String label;
    private final List<CheckpointSample> checkpoints;
    private final long checkpointedBytesInAll;
    private final long fullBytes;
    private final RecoverySample recovery;
    private final long caughtUpMillis;
    private final OptionalDouble recordsPerSecond;
    private final String result;

    private RunReport(Builder builder) {
        this.label = builder.label;
        this.checkpoints = List.copyOf(builder.checkpoints);
        this.checkpointedBytesInAll = builder.checkpointedBytesInAll;
        this.fullBytes = builder.fullBytes;
        this.recovery = builder.recovery;
        this.caughtUpMillis = builder.caughtUpMillis;
        this.recordsPerSecond = builder.recordsPerSecond;
        this.result = builder.result;
    }

    /** What was run, as the table names it. */
    public String label() {
        return label;
    }

    /** The checkpoints under the steady load, oldest first. */
    public List<CheckpointSample> checkpoints() {
        return checkpoints;
    }

    Percentiles durationsMillis() {
        return Percentiles.of(checkpoints.stream().mapToLong(one -> one.durationMillis));
    }

    Percentiles checkpointedBytes() {
        return Percentiles.of(checkpoints.stream().mapToLong(one -> one.checkpointedBytes));
    }

    long checkpointedBytesInAll() {
        return checkpointedBytesInAll;
    }

    long fullBytes() {
        return fullBytes;
    }

    RecoverySample recovery() {
        return recovery;
    }

    long caughtUpMillis() {
        return caughtUpMillis;
    }

    OptionalDouble recordsPerSecond() {
        return recordsPerSecond;
    }

    String result() {
        return result;
    }

    /** Collects the results as the run goes on. */
    public static final class Builder {
        private final String label;
        private List<CheckpointSample> checkpoints = List.of();
        private long checkpointedBytesInAll;
        private long fullBytes;
        private RecoverySample recovery = new RecoverySample();
        private long caughtUpMillis;
        private OptionalDouble recordsPerSecond = OptionalDouble.empty();
        private String result = "";

        /** Begins a report. */
        public Builder(String label) {
            this.label = label;
        }

        /** The checkpoints taken under the steady load, oldest first. */
        public Builder steadyCheckpoints(List<CheckpointSample> samples) {
            this.checkpoints = samples;
            return this;
        }

        /** What all checkpoints added to the storage, and the most that one refers to. */
        public Builder sizes(long checkpointedBytesInAll, long fullBytes) {
            this.checkpointedBytesInAll = checkpointedBytesInAll;
            this.fullBytes = fullBytes;
            return this;
        }

        /**
         * The steps until all tasks had records again, and the time to the position at the kill.
         */
        public Builder recovery(RecoverySample recovery, long caughtUpMillis) {
            this.recovery = recovery;
            this.caughtUpMillis = caughtUpMillis;
            return this;
        }

        /** Over the part of the input that is not rate-limited. */
        public Builder throughput(OptionalDouble recordsPerSecond) {
            this.recordsPerSecond = recordsPerSecond;
            return this;
        }

        /** What the verification said. */
        public Builder result(String result) {
            this.result = result;
            return this;
        }

        /** The report, with what was set so far. */
        public RunReport build() {
            return new RunReport(this);
        }
    }
}
