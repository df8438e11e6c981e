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

package dev.dstl.changelog.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.fixture.StateAccess;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.runtime.state.KeyGroupRange;

class ReplayPropertyTest {

    @Property(tries = 80)
    void hashMap_replayGivesWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses, @ForAll @IntRange(max = 120) int cut)
            throws Exception {
        replayGivesWhatTheJobHad(
                Delegate.Kind.HASH_MAP, InMemoryLog.withRecordKeys(), accesses, cut);
    }

    @Property(tries = 100)
    void hashMapOnFlinksStorage_replayGivesWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses, @ForAll @IntRange(max = 120) int cut)
            throws Exception {
        replayGivesWhatTheJobHad(Delegate.Kind.HASH_MAP, InMemoryLog.ofFlink(), accesses, cut);
    }

    @Property(tries = 40)
    void rocksDb_replayGivesWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses, @ForAll @IntRange(max = 120) int cut)
            throws Exception {
        replayGivesWhatTheJobHad(
                Delegate.Kind.ROCKS_DB, InMemoryLog.withRecordKeys(), accesses, cut);
    }

    @Property(tries = 8)
    void rocksDbOnFlinksStorage_replayGivesWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses, @ForAll @IntRange(max = 120) int cut)
            throws Exception {
        replayGivesWhatTheJobHad(Delegate.Kind.ROCKS_DB, InMemoryLog.ofFlink(), accesses, cut);
    }

    @Property(tries = 8)
    void rocksDbWithHeapTimers_replayGivesWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses, @ForAll @IntRange(max = 120) int cut)
            throws Exception {
        replayGivesWhatTheJobHad(
                Delegate.Kind.ROCKS_DB_WITH_HEAP_TIMERS,
                InMemoryLog.withRecordKeys(),
                accesses,
                cut);
    }

    @Property(tries = 40)
    void rocksDb_recordsInTheOrderOfTheirWriting_giveWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses, @ForAll @IntRange(max = 120) int cut)
            throws Exception {
        int end = Math.min(cut, accesses.size());
        InMemoryLog first = InMemoryLog.withRecordKeys();
        InMemoryLog second = InMemoryLog.withRecordKeys();
        try (LoggedJob job = LoggedJob.start(Delegate.Kind.ROCKS_DB, first)) {
            perform(accesses.subList(0, end), job);
        }
        try (LoggedJob job =
                LoggedJob.restore(
                        Delegate.Kind.ROCKS_DB,
                        KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1),
                        first,
                        second)) {
            perform(accesses.subList(end, accesses.size()), job);
            try (LoggedJob restored =
                    LoggedJob.restoreUnsorted(Delegate.Kind.ROCKS_DB, first, second)) {
                assertThat(restored.contents()).isEqualTo(job.contents());
                assertThat(restored.pollAllTimers()).isEqualTo(job.pollAllTimers());
            }
        }
    }

    @Property(tries = 8)
    void delegatesMayChangeBetweenLogAndReplay(@ForAll("accesses") List<StateAccess> accesses)
            throws Exception {
        try (LoggedJob job =
                LoggedJob.start(Delegate.Kind.HASH_MAP, InMemoryLog.withRecordKeys())) {
            perform(accesses, job);
            try (LoggedJob restored = LoggedJob.restore(Delegate.Kind.ROCKS_DB, job.log)) {
                assertThat(restored.contents()).isEqualTo(job.contents());
                assertThat(restored.pollAllTimers()).isEqualTo(job.pollAllTimers());
            }
        }
    }

    @Property(tries = 50)
    void twoHalvesOfTheKeyGroups_haveTogetherWhatTheJobHad(
            @ForAll("accesses") List<StateAccess> accesses) throws Exception {
        try (LoggedJob job =
                LoggedJob.start(Delegate.Kind.HASH_MAP, InMemoryLog.withRecordKeys())) {
            perform(accesses, job);
            for (KeyGroupRange half : List.of(KeyGroupRange.of(0, 6), KeyGroupRange.of(7, 15))) {
                try (LoggedJob part =
                        LoggedJob.restore(
                                Delegate.Kind.HASH_MAP,
                                half,
                                job.log,
                                InMemoryLog.withRecordKeys())) {
                    assertThat(part.contents()).isEqualTo(job.contents(half));
                    assertThat(part.timersOf(half)).isEqualTo(job.timersOf(half));
                }
            }
        }
    }

    private static void replayGivesWhatTheJobHad(
            Delegate.Kind kind, InMemoryLog log, List<StateAccess> accesses, int cut)
            throws Exception {
        int end = Math.min(cut, accesses.size());
        try (LoggedJob job = LoggedJob.start(kind, log)) {
            perform(accesses.subList(0, end), job);
            try (LoggedJob restored = LoggedJob.restore(kind, log)) {
                assertThat(restored.contents()).isEqualTo(job.contents());

                // the restored job goes on with its own functions and serializers
                perform(accesses.subList(end, accesses.size()), job);
                perform(accesses.subList(end, accesses.size()), restored);
                assertThat(restored.contents()).isEqualTo(job.contents());
                assertThat(restored.pollAllTimers()).isEqualTo(job.pollAllTimers());
            }
        }
    }

    private static void perform(List<StateAccess> accesses, LoggedJob job) throws Exception {
        for (StateAccess access : accesses) {
            access.perform(job);
        }
    }

    @Provide
    Arbitrary<List<StateAccess>> accesses() {
        Arbitrary<Integer> keys = Arbitraries.integers().between(0, LoggedJob.KEYS - 1);
        Arbitrary<String> namespaces = Arbitraries.of(LoggedJob.NAMESPACES);
        return Combinators.combine(
                        Arbitraries.of(StateAccess.Kind.class),
                        keys,
                        namespaces,
                        namespaces,
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.integers())
                .as(StateAccess::new)
                .list()
                .ofMaxSize(120);
    }
}
