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
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.flink.runtime.state.KeyGroupRange;

/** A changelog in memory that is sorted as it is read, and the threads and memory for that. */
final class SortedLog {

    static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(0, 7);

    final ExecutorService threads = Executors.newCachedThreadPool();
    final InMemoryChangelogWriter written = new InMemoryChangelogWriter();
    final FakeMemory memory = new FakeMemory(Long.MAX_VALUE);

    /** Registers a state. */
    void register(int state, String name) throws IOException {
        written.append(RecordKind.META, -1, state, bytes(name), 0, 0, name.length());
    }

    /** Puts a value in key group 1. */
    void put(int state, String key, String value) throws IOException {
        byte[] bytes = bytes(key + value);
        written.append(RecordKind.PUT, 1, state, bytes, key.length(), key.length(), bytes.length);
    }

    SortingCursor cursor(RecordCursor source) {
        return cursor(source, any -> false, memory, threads);
    }

    SortingCursor cursor(RecordCursor source, FakeMemory reserved, Executor reader) {
        return cursor(source, any -> false, reserved, threads, reader);
    }

    SortingCursor cursor(
            RecordCursor source,
            Predicate<byte[]> keepsOrder,
            FakeMemory reserved,
            Executor sorters) {
        return cursor(source, keepsOrder, reserved, sorters, threads);
    }

    private static SortingCursor cursor(
            RecordCursor source,
            Predicate<byte[]> keepsOrder,
            FakeMemory reserved,
            Executor sorters,
            Executor reader) {
        SortingCursor cursor =
                new SortingCursor(
                        source, KEY_GROUPS, ReplayOrder.BY_KEY, keepsOrder, reserved, sorters);
        cursor.start(reader);
        return cursor;
    }

    /** Reads the records that were written. */
    List<String> sorted() throws IOException {
        return read(written.open());
    }

    List<String> read(RecordCursor source) throws IOException {
        return drain(cursor(source));
    }

    /** Reads all records as text, and closes the cursor. */
    static List<String> drain(SortingCursor cursor) throws IOException {
        List<String> texts = new ArrayList<>();
        try (RecordCursor closing = cursor) {
            LogRecord record = new LogRecord();
            while (closing.next(record)) {
                String recordKey = text(record, record.keyOffset(), record.keyLength());
                String payload = text(record, record.payloadOffset(), record.payloadLength());
                texts.add(
                        record.kind()
                                + " "
                                + (recordKey.isEmpty() ? payload : recordKey + "=" + payload));
            }
        }
        return texts;
    }

    private static String text(LogRecord record, int offset, int length) {
        return new String(record.buffer(), offset, length, StandardCharsets.ISO_8859_1);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Ends the threads; no memory may be reserved then. */
    public void close() throws InterruptedException {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        assertThat(memory.reserved()).isZero();
    }
}
