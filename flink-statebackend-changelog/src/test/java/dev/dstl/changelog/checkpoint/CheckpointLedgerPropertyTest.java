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

import dev.dstl.changelog.materialization.LogTruncation;
import dev.dstl.changelog.materialization.TruncatedLog;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/**
 * Notifications arrive in any order, late, twice or never; the ledger keeps what checkpoints need.
 */
class CheckpointLedgerPropertyTest {

    @Property(tries = 300)
    void truncation_isTheSmallerOfBaseAndNewestSubsumedCheckpoint(
            @ForAll int seed, @ForAll @IntRange(min = 1, max = 60) int steps) {
        Random random = new Random(seed);
        TruncatedLog log = new TruncatedLog();
        LogTruncation truncation = new LogTruncation(log);
        truncation.checkpointBegun();
        CheckpointLedger ledger = new CheckpointLedger();
        TreeMap<Long, Long> wantedTo = new TreeMap<>();
        Set<Long> complete = new HashSet<>();
        List<Long> all = new ArrayList<>();
        long end = 0;
        long base = 0;
        long subsumedTo = 0;

        for (int step = 0; step < steps; step++) {
            long some = all.isEmpty() ? random.nextInt(10) : all.get(random.nextInt(all.size()));
            switch (random.nextInt(6)) {
                case 0:
                    end += random.nextInt(4);
                    break;
                case 1:
                    long checkpointId = 1L + random.nextInt(3) + (all.isEmpty() ? 0 : last(all));
                    ledger.started(
                            checkpointId, 1, SequenceNumber.of(base), SequenceNumber.of(end));
                    wantedTo.put(checkpointId, end);
                    all.add(checkpointId);
                    break;
                case 2:
                    base += random.nextInt((int) (end - base) + 1);
                    truncation.materialized(SequenceNumber.of(base));
                    break;
                case 3:
                    assertThat(ledger.confirm(some).isPresent())
                            .isEqualTo(wantedTo.containsKey(some) && complete.add(some));
                    break;
                case 4:
                    ledger.abort(some);
                    if (!complete.contains(some)) {
                        wantedTo.remove(some);
                    }
                    break;
                default:
                    long subsumed = some - random.nextInt(2);
                    ledger.subsume(subsumed).ifPresent(truncation::subsumed);
                    NavigableMap<Long, Long> gone = wantedTo.headMap(subsumed, true);
                    if (!gone.isEmpty()) {
                        subsumedTo = Math.max(subsumedTo, gone.lastEntry().getValue());
                        gone.clear();
                    }
            }
            assertThat(log.truncatedTo())
                    .as("seed %d, step %d", seed, step)
                    .isEqualTo(Math.min(base, subsumedTo));
        }
    }

    @Property(tries = 300)
    void partsGivenBack_overlapNoRemainingCheckpoint(
            @ForAll int seed, @ForAll @IntRange(min = 2, max = 12) int checkpoints) {
        Random random = new Random(seed);
        CheckpointLedger ledger = new CheckpointLedger();
        TreeMap<Long, long[]> remaining = new TreeMap<>();
        long base = 0;
        long end = 0;
        for (long id = 1; id <= checkpoints; id++) {
            end += random.nextInt(4);
            base += random.nextInt((int) (end - base) + 1);
            ledger.started(id, 1, SequenceNumber.of(base), SequenceNumber.of(end));
            remaining.put(id, new long[] {base, end});
        }
        for (int round = 0; round < checkpoints; round++) {
            long id = 1L + random.nextInt(checkpoints);
            remaining.remove(id);
            ledger.abort(id)
                    .ifPresent(
                            part -> {
                                long from = number(part.from());
                                long to = number(part.to());
                                for (long[] other : remaining.values()) {
                                    assertThat(Math.max(from, other[0]))
                                            .as("seed %d", seed)
                                            .isGreaterThanOrEqualTo(Math.min(to, other[1]));
                                }
                            });
        }
    }

    private static long number(SequenceNumber sequenceNumber) {
        return ((SequenceNumber.GenericSequenceNumber) sequenceNumber).number;
    }

    private static long last(List<Long> ids) {
        return ids.get(ids.size() - 1);
    }
}
