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

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.Test;

class BaseLedgerTest {

    private final List<Long> deleted = new ArrayList<>();
    private final BaseLedger bases = new BaseLedger(base(7, 7), false);

    @Test
    void ids_startAboveTheRestoredOne() {
        assertThat(bases.takeId()).isEqualTo(8);
        assertThat(bases.takeId()).isEqualTo(9);
    }

    @Test
    void ids_differBetweenAttempts_evenIfTheRestoredOneIsOfAClockThatIsAhead() {
        long now = 1_000;
        assertThat(BaseLedger.idsOfAttempt(base(7, 7), now)).isEqualTo(now);

        MaterializedBase ahead = base(now + 600_000, 7);
        assertThat(BaseLedger.idsOfAttempt(ahead, now))
                .isGreaterThanOrEqualTo(ahead.id())
                .isNotEqualTo(BaseLedger.idsOfAttempt(ahead, now + 1));
    }

    @Test
    void base_isDeletedOnlyIfNoCheckpointGotIt() {
        assertThat(replace(8, 7)).as("the restored base").isTrue();
        assertThat(deleted).isEmpty();
        assertThat(replace(9, 7)).isTrue();
        assertThat(deleted).containsExactly(8L);
        bases.retainCurrent();
        assertThat(replace(10, 7)).isFalse();
        assertThat(deleted).containsExactly(8L);
    }

    @Test
    void base_isDeletedWhenItsLastCheckpointIsDropped_evenAfterItWasReplacedOrClosed() {
        replace(8, 7);
        BaseReference first = bases.retainCurrent();
        BaseReference second = bases.retainCurrent();
        first.drop();
        first.drop();
        replace(9, 7);
        assertThat(deleted).isEmpty();
        second.drop();
        assertThat(deleted).containsExactly(8L);

        BaseReference last = bases.retainCurrent();
        bases.close();
        assertThat(deleted).containsExactly(8L);
        last.drop();
        assertThat(deleted).containsExactly(8L, 9L);
        assertThat(last.references().tryRetain()).as("nobody may have it any more").isEmpty();
    }

    @Test
    void localCopies_areDeletedWhenNobodyRestoresFromThem_thoughTheJobManagerHasTheBase() {
        List<String> events = new ArrayList<>();
        BaseReferences references =
                new BaseReferences(() -> events.add("all"), () -> events.add("local"));
        BaseReference current = references.tryRetain().orElseThrow();
        BaseReference sent = references.tryRetain().orElseThrow();
        BaseReference dropped = references.tryRetain().orElseThrow();
        dropped.drop();
        current.drop();
        assertThat(events).isEmpty();

        sent.dropLocal();
        sent.dropLocal();

        assertThat(events).containsExactly("local");
    }

    @Test
    void sharing_isSafeAsLongAsTheCurrentBaseIsConfirmedOrBuiltOnWhatIs() {
        assertThat(bases.sharingIsSafe()).isTrue();
        replace(8, 7);
        assertThat(bases.sharingIsSafe()).isTrue();
        replace(9, 7);
        assertThat(bases.confirm(8)).isTrue();
        assertThat(bases.sharingIsSafe()).as("9 was built on 7, and 7 may go").isFalse();
        assertThat(bases.confirm(9)).isTrue();
        assertThat(bases.sharingIsSafe()).isTrue();
        assertThat(bases.confirm(8)).as("known to be older").isFalse();
    }

    @Test
    void demandedFullSnapshot_stopsSharingUntilOneThatBeganLaterIsTheBase() {
        long earlier = bases.takeId();
        bases.demandFullSnapshot();
        assertThat(bases.sharingIsSafe()).isFalse();

        replace(earlier, MaterializedBase.BUILT_ON_NOTHING);
        assertThat(bases.fullSnapshotNeeded()).as("it began before the demand").isTrue();

        long later = bases.takeId();
        replace(later, MaterializedBase.BUILT_ON_NOTHING);
        assertThat(bases.fullSnapshotNeeded()).isFalse();
        assertThat(bases.isNewAndFull()).isTrue();
        assertThat(bases.sharingIsSafe()).as("nobody has confirmed it").isFalse();
        bases.confirm(later);
        assertThat(bases.isNewAndFull()).isFalse();
        assertThat(bases.sharingIsSafe()).isTrue();
    }

    @Test
    void olderBase_neverReplacesANewerOne() {
        replace(9, 7);

        assertThat(bases.isObsolete(8)).isTrue();
        assertThatThrownBy(() -> replace(8, 7)).isInstanceOf(IllegalStateException.class);
    }

    private boolean replace(long id, long builtOn) {
        return bases.replace(
                base(id, builtOn),
                new BaseReferences(() -> deleted.add(id), () -> {}).tryRetain().orElseThrow());
    }

    private static MaterializedBase base(long id, long builtOn) {
        SequenceNumber to = SequenceNumber.of(id);
        return new MaterializedBase(id, builtOn, to, to, StateParts.EMPTY, StateParts.EMPTY);
    }
}
