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

package dev.dstl.changelog.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.Test;

class CheckpointLedgerTest {

    private final CheckpointLedger ledger = new CheckpointLedger();

    @Test
    void checkpointsOfOthers_areIgnored() {
        started(5, 0, 3);

        assertThat(ledger.confirm(4)).isEmpty();
        assertThat(ledger.abort(6)).isEmpty();
        assertThat(ledger.subsume(4)).isEmpty();
        assertThat(ledger.subsume(-1)).isEmpty();
    }

    @Test
    void checkpoint_isConfirmedOnce() {
        started(5, 0, 3);

        assertThat(ledger.confirm(5).orElseThrow().to()).isEqualTo(SequenceNumber.of(3));
        assertThat(ledger.confirm(5)).isEmpty();
    }

    @Test
    void olderCheckpoint_canBeConfirmedAfterANewerOne() {
        started(5, 0, 3);
        started(6, 0, 4);

        assertThat(ledger.confirm(6)).isPresent();
        assertThat(ledger.confirm(5).orElseThrow().to()).isEqualTo(SequenceNumber.of(3));
    }

    @Test
    void subsuming_coversEveryEarlierCheckpoint_alsoUnknownOnes() {
        started(5, 0, 3);
        started(6, 0, 4);
        started(8, 2, 7);

        assertThat(ledger.subsume(7)).contains(SequenceNumber.of(4));
        assertThat(ledger.confirm(5)).isEmpty();
        assertThat(ledger.confirm(8)).isPresent();
        assertThat(ledger.subsume(7)).isEmpty();
        assertThat(ledger.subsume(8)).contains(SequenceNumber.of(7));
    }

    @Test
    void aborting_givesBackOnlyWhatNoOtherCheckpointCovers() {
        started(5, 0, 3);
        started(6, 0, 5);
        LoggedCheckpoint part = ledger.abort(6).orElseThrow();
        assertThat(part.from()).isEqualTo(SequenceNumber.of(3));
        assertThat(part.to()).isEqualTo(SequenceNumber.of(5));

        started(7, 0, 9);
        assertThat(ledger.abort(5)).as("checkpoint 7 covers all of it").isEmpty();
        assertThat(ledger.abort(7)).isPresent();
        assertThat(ledger.abort(7)).isEmpty();
    }

    @Test
    void abortedCheckpointBeforeAMaterialization_givesBackWhatTheNextOneBeginsAfter() {
        started(5, 0, 6);
        started(6, 4, 8);

        LoggedCheckpoint part = ledger.abort(5).orElseThrow();

        assertThat(part.from()).isEqualTo(SequenceNumber.of(0));
        assertThat(part.to()).isEqualTo(SequenceNumber.of(4));
    }

    @Test
    void completeCheckpoint_cannotBeAborted() {
        started(5, 0, 3);
        ledger.confirm(5);

        assertThat(ledger.abort(5)).isEmpty();
        assertThat(ledger.subsume(5)).contains(SequenceNumber.of(3));
    }

    private void started(long checkpointId, long from, long to) {
        ledger.started(checkpointId, 1, SequenceNumber.of(from), SequenceNumber.of(to));
    }
}
