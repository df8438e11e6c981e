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

package dev.dstl.changelog.sorting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.apache.flink.runtime.state.KeyGroupRange;

/** The state after a replay does not depend on the order in which sorting returns the records. */
class SortingCursorPropertyTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(3, 12);
    private static final int LOG_BYTES = 16 << 20;

    private static ExecutorService threads;

    @BeforeContainer
    static void startThreads() {
        threads = Executors.newCachedThreadPool();
    }

    @AfterContainer
    static void endThreads() {
        threads.shutdownNow();
    }

    @Property(tries = 2000)
    void sortedRecords_leaveWhatTheLogLeaves(@ForAll("logs") List<Change> changes)
            throws IOException {
        FakeMemory memory = new FakeMemory(Long.MAX_VALUE);
        List<Change> sorted = sorted(changes, ReplayOrder.BY_KEY, memory);
        assertThat(contents(sorted)).isEqualTo(contents(changes));
        assertThat(memory.reserved()).isZero();
    }

    @Property(tries = 1000)
    void sortedRecords_areInOrder_andNoneIsSuperfluous(@ForAll("logs") List<Change> changes)
            throws IOException {
        List<Change> sorted = sorted(changes, ReplayOrder.BY_KEY, new FakeMemory(Long.MAX_VALUE));
        for (int i = 1; i < sorted.size(); i++) {
            assertThat(sorted.get(i).place()).isGreaterThanOrEqualTo(sorted.get(i - 1).place());
        }
        verifyNoneIsSuperfluous(sorted);
    }

    /** Otherwise equal keys that have different bytes would get the state of an earlier record. */
    @Property(tries = 1000)
    void recordsAsWritten_keepTheirOrderWithinAKeyGroup_andNoneIsSuperfluous(
            @ForAll("logs") List<Change> changes) throws IOException {
        List<Change> kept = sorted(changes, ReplayOrder.AS_WRITTEN, new FakeMemory(Long.MAX_VALUE));
        Map<Integer, List<String>> written = byKeyGroup(changes);
        byKeyGroup(kept)
                .forEach(
                        (keyGroup, left) ->
                                assertThat(written.get(keyGroup)).containsSubsequence(left));
        assertThat(contents(kept)).isEqualTo(contents(changes));
        verifyNoneIsSuperfluous(kept);
    }

    private static Map<Integer, List<String>> byKeyGroup(List<Change> changes) {
        return changes.stream()
                .collect(
                        Collectors.groupingBy(
                                change -> change.keyGroup,
                                Collectors.mapping(Change::toString, Collectors.toList())));
    }

    private static void verifyNoneIsSuperfluous(List<Change> sorted) {
        for (int i = 0; i < sorted.size(); i++) {
            List<Change> without = new ArrayList<>(sorted);
            without.remove(i);
            // A removal of what is not in the changelog may be meant for the base.
            if (sorted.get(i).kind == RecordKind.PUT || sorted.get(i).kind == RecordKind.APPEND) {
                assertThat(contents(without)).isNotEqualTo(contents(sorted));
            }
        }
    }

    @Property(tries = 40)
    void manyRecords_inRunsAsLargeAsTheMemory_leaveWhatTheLogLeaves(
            @ForAll @IntRange(max = 1_000_000) int seed,
            @ForAll @IntRange(max = 3_000_000) int limitBytes)
            throws IOException {
        Random random = new Random(seed);
        RecordKind[] kinds = {
            RecordKind.PUT, RecordKind.DELETE, RecordKind.APPEND, RecordKind.DELETE_PREFIX
        };
        List<Change> changes = new ArrayList<>();
        for (int i = 0; i < 30_000; i++) {
            String prefix = "a common beginning of all keys, number " + random.nextInt(4_000);
            changes.add(
                    new Change(
                            kinds[random.nextInt(100) == 0 ? 3 : random.nextInt(3)],
                            KEY_GROUPS.getStartKeyGroup() + Math.floorMod(prefix.hashCode(), 10),
                            random.nextInt(2),
                            prefix,
                            Integer.toString(random.nextInt(3)),
                            "payload " + i));
        }
        FakeMemory memory = new FakeMemory(limitBytes);
        ReplayOrder order = random.nextBoolean() ? ReplayOrder.BY_KEY : ReplayOrder.AS_WRITTEN;
        assertThat(contents(sorted(changes, order, memory))).isEqualTo(contents(changes));
        assertThat(memory.reserved()).isZero();
    }

    @Property(tries = 30)
    void whileTheBaseLoads_noMoreIsReadThanTheMemoryTakes(
            @ForAll @IntRange(max = 1_000_000) int seed,
            @ForAll @IntRange(max = 3_000_000) int limitBytes)
            throws Exception {
        Random random = new Random(seed);
        int recordBytes = 64 + (1 << random.nextInt(20));
        int count = LOG_BYTES / recordBytes;
        DistinctRecords log =
                new DistinctRecords(
                        KEY_GROUPS,
                        count,
                        recordBytes,
                        random.nextBoolean() ? 1 : random.nextInt(count));
        FakeMemory memory = new FakeMemory(limitBytes);
        SortingCursor cursor =
                new SortingCursor(
                        log, KEY_GROUPS, ReplayOrder.BY_KEY, any -> false, memory, threads);
        ReadingThread reading = new ReadingThread();
        cursor.start(reading);

        reading.awaitRest();
        assertThat(log.readBytes()).isLessThan(2L * limitBytes + (4 << 20));

        try (RecordCursor closing = cursor) {
            LogRecord record = new LogRecord();
            for (int i = 0; i < count; i++) {
                assertThat(closing.next(record)).isTrue();
            }
            assertThat(closing.next(record)).isFalse();
        }
        assertThat(memory.reserved()).isZero();
    }

    private static List<Change> sorted(List<Change> changes, ReplayOrder order, FakeMemory memory)
            throws IOException {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        for (int state = 0; state < 3; state++) {
            log.append(RecordKind.META, -1, state, new byte[] {1, 2}, 0, 0, 2);
        }
        for (Change change : changes) {
            change.append(log);
        }
        SortingCursor cursor =
                new SortingCursor(log.open(), KEY_GROUPS, order, any -> false, memory, threads);
        cursor.start(threads);
        List<Change> sorted = new ArrayList<>();
        try (RecordCursor closing = cursor) {
            LogRecord record = new LogRecord();
            while (closing.next(record)) {
                if (record.kind() != RecordKind.META) {
                    sorted.add(Change.of(record));
                }
            }
        }
        return sorted;
    }

    /** Contents after a replay into an empty state, by state, key group, prefix length and key. */
    private static Map<String, List<String>> contents(List<Change> changes) {
        Map<String, List<String>> contents = new HashMap<>();
        for (Change change : changes) {
            String name = change.name();
            switch (change.kind) {
                case PUT:
                    contents.put(name, new ArrayList<>(List.of(change.payload)));
                    break;
                case DELETE:
                    contents.remove(name);
                    break;
                case APPEND:
                    contents.computeIfAbsent(name, none -> new ArrayList<>()).add(change.payload);
                    break;
                case DELETE_PREFIX:
                    contents.keySet().removeIf(other -> other.startsWith(change.owner()));
                    break;
                default:
                    throw new IllegalArgumentException(change.kind.name());
            }
        }
        return contents;
    }

    @Provide
    Arbitrary<List<Change>> logs() {
        // Few characters, so that one record key is often the beginning of another.
        Arbitrary<String> texts =
                Arbitraries.strings().withChars('\0', 'a', '\u00ff').ofMaxLength(5);
        return Combinators.combine(
                        Arbitraries.of(
                                RecordKind.PUT,
                                RecordKind.PUT,
                                RecordKind.DELETE,
                                RecordKind.APPEND,
                                RecordKind.DELETE_PREFIX),
                        Arbitraries.of(3, 4, 12),
                        Arbitraries.integers().between(0, 2),
                        texts,
                        texts,
                        Arbitraries.integers().map(Object::toString))
                .as(Change::new)
                .list()
                .ofMaxSize(60);
    }

    private static final class Change {

        private final RecordKind kind;
        private final int keyGroup;
        private final int state;
        private final String prefix;
        private final String rest;
        private final String payload;

        Change(
                RecordKind kind,
                int keyGroup,
                int state,
                String prefix,
                String rest,
                String payload) {
            this.kind = kind;
            this.keyGroup = keyGroup;
            this.state = state;
            this.prefix = prefix;
            this.rest = kind == RecordKind.DELETE_PREFIX ? "" : rest;
            this.payload = kind == RecordKind.PUT || kind == RecordKind.APPEND ? payload : "";
        }

        static Change of(LogRecord record) {
            int split = record.keyOffset() + record.keyPrefixLength();
            return new Change(
                    record.kind(),
                    record.keyGroup(),
                    record.stateId(),
                    text(record, record.keyOffset(), split),
                    text(record, split, record.payloadOffset()),
                    text(record, record.payloadOffset(), record.offset() + record.length()));
        }

        private static String text(LogRecord record, int from, int to) {
            return new String(
                    Arrays.copyOfRange(record.buffer(), from, to), StandardCharsets.ISO_8859_1);
        }

        void append(InMemoryChangelogWriter log) throws IOException {
            byte[] bytes = (prefix + rest + payload).getBytes(StandardCharsets.ISO_8859_1);
            log.append(
                    kind,
                    keyGroup,
                    state,
                    bytes,
                    prefix.length(),
                    prefix.length() + rest.length(),
                    bytes.length);
        }

        String owner() {
            return state + "/" + keyGroup + "/" + prefix.length() + "/" + prefix;
        }

        String name() {
            return owner() + rest;
        }

        /** Sort position among the records of its key groups. */
        String place() {
            int part = (keyGroup - KEY_GROUPS.getStartKeyGroup()) * 8 / 10;
            return String.format("%d/%d/%02d/%s", part, state, keyGroup, prefix + rest);
        }

        @Override
        public String toString() {
            return kind + " " + name() + " = " + payload;
        }
    }
}
