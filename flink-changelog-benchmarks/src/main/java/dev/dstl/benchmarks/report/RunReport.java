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

/** The results of one run of the workload. Immutable; created by a {@link Builder}. */
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

    /** Returns the label of the run. */
    public String label() {
        return label;
    }

    /** Returns the checkpoints under steady load, oldest first. */
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

    /** Collects the results during the run. */
    public static final class Builder {
        private final String label;
        private List<CheckpointSample> checkpoints = List.of();
        private long checkpointedBytesInAll;
        private long fullBytes;
        private RecoverySample recovery = new RecoverySample();
        private long caughtUpMillis;
        private OptionalDouble recordsPerSecond = OptionalDouble.empty();
        private String result = "";

        /** Creates a builder. */
        public Builder(String label) {
            this.label = label;
        }

        /** Sets the checkpoints under steady load, oldest first. */
        public Builder steadyCheckpoints(List<CheckpointSample> samples) {
            this.checkpoints = samples;
            return this;
        }

        /**
         * Sets the bytes that all checkpoints added to the storage, and the largest size of a
         * checkpoint.
         */
        public Builder sizes(long checkpointedBytesInAll, long fullBytes) {
            this.checkpointedBytesInAll = checkpointedBytesInAll;
            this.fullBytes = fullBytes;
            return this;
        }

        /**
         * Sets the steps of the recovery, and the time until the position at the kill was reached
         * again.
         */
        public Builder recovery(RecoverySample recovery, long caughtUpMillis) {
            this.recovery = recovery;
            this.caughtUpMillis = caughtUpMillis;
            return this;
        }

        /** Sets the throughput of the part of the input that is not rate-limited. */
        public Builder throughput(OptionalDouble recordsPerSecond) {
            this.recordsPerSecond = recordsPerSecond;
            return this;
        }

        /** Sets the result of the verification. */
        public Builder result(String result) {
            this.result = result;
            return this;
        }

        /** Returns the report with the values set so far. */
        public RunReport build() {
            return new RunReport(this);
        }
    }
}
