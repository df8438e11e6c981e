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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.Test;

class BaseLedgerTest {

    private final BaseLedger bases = new BaseLedger(base(7, 7), false);

    @Test
    void ids_startAboveTheRestoredOne() {
        assertThat(bases.takeId()).isEqualTo(8);
        assertThat(bases.takeId()).isEqualTo(9);
    }

    @Test
    void base_isAnOrphanOnlyIfNoCheckpointGotIt() {
        assertThat(bases.replace(base(8, 7))).as("the restored base").isEmpty();
        assertThat(bases.replace(base(9, 7)).orElseThrow().id()).isEqualTo(8);
        bases.handOut();
        assertThat(bases.replace(base(10, 7))).isEmpty();
    }

    @Test
    void sharing_isSafeAsLongAsTheCurrentBaseIsConfirmedOrBuiltOnWhatIs() {
        assertThat(bases.sharingIsSafe()).isTrue();
        bases.replace(base(8, 7));
        assertThat(bases.sharingIsSafe()).isTrue();
        bases.replace(base(9, 7));
        assertThat(bases.confirm(8)).isTrue();
        assertThat(bases.sharingIsSafe()).as("9 was built on 7, and 7 may go").isFalse();
        assertThat(bases.confirm(9)).isTrue();
        assertThat(bases.sharingIsSafe()).isTrue();
        assertThat(bases.confirm(8)).as("known to be older").isFalse();
    }

    @Test
    void demandedFullSnapshot_stopsSharingUntilOneIsAdopted() {
        bases.demandFullSnapshot();
        assertThat(bases.sharingIsSafe()).isFalse();

        bases.adopt(base(8, MaterializedBase.BUILT_ON_NOTHING));

        assertThat(bases.fullSnapshotNeeded()).isFalse();
        assertThat(bases.sharingIsSafe()).as("nobody has confirmed it").isFalse();
        bases.confirm(8);
        assertThat(bases.sharingIsSafe()).isTrue();
        assertThat(bases.replace(base(9, 8))).as("a checkpoint has the full one").isEmpty();
    }

    @Test
    void olderBase_neverReplacesANewerOne() {
        bases.replace(base(9, 7));

        assertThat(bases.isObsolete(8)).isTrue();
        assertThatThrownBy(() -> bases.replace(base(8, 7)))
                .isInstanceOf(IllegalStateException.class);
    }

    private static MaterializedBase base(long id, long builtOn) {
        SequenceNumber to = SequenceNumber.of(id);
        return new MaterializedBase(id, builtOn, to, to, StateParts.EMPTY, StateParts.EMPTY);
    }
}
