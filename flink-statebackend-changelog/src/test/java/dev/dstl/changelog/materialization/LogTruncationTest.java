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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.Test;

class LogTruncationTest {

    private final TruncatedLog log = new TruncatedLog();
    private final LogTruncation truncation = new LogTruncation(log);

    @Test
    void log_isTruncatedToTheSmallerOfSubsumedAndMaterialized() {
        truncation.checkpointBegun();
        truncation.materialized(SequenceNumber.of(5));
        assertThat(log.truncatedTo()).isZero();

        truncation.subsumed(SequenceNumber.of(3));
        assertThat(log.truncatedTo()).isEqualTo(3);

        truncation.subsumed(SequenceNumber.of(9));
        assertThat(log.truncatedTo()).isEqualTo(5);

        truncation.materialized(SequenceNumber.of(7));
        assertThat(log.truncatedTo()).isEqualTo(7);
    }

    @Test
    void log_isTruncatedToTheBase_beforeTheFirstCheckpoint() {
        truncation.materialized(SequenceNumber.of(5));
        assertThat(log.truncatedTo()).isEqualTo(5);

        truncation.checkpointBegun();
        truncation.materialized(SequenceNumber.of(7));
        assertThat(log.truncatedTo()).isEqualTo(5);

        truncation.subsumed(SequenceNumber.of(6));
        assertThat(log.truncatedTo()).isEqualTo(6);
    }

    @Test
    void log_isTruncatedToTheBase_onceACheckpointWithItIsComplete() {
        truncation.checkpointBegun();
        truncation.materialized(SequenceNumber.of(5));
        truncation.confirmed(SequenceNumber.of(0));
        assertThat(log.truncatedTo()).isZero();

        truncation.confirmed(SequenceNumber.of(5));
        assertThat(log.truncatedTo()).isEqualTo(5);

        truncation.subsumed(SequenceNumber.of(4));
        truncation.confirmed(SequenceNumber.of(0));
        assertThat(log.truncatedTo()).isEqualTo(5);
    }

    @Test
    void olderNews_changeNothing() {
        truncation.materialized(SequenceNumber.of(5));
        truncation.subsumed(SequenceNumber.of(5));

        truncation.subsumed(SequenceNumber.of(2));
        truncation.materialized(SequenceNumber.of(1));

        assertThat(log.truncatedTo()).isEqualTo(5);
    }
}
