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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In which order a sorted changelog gives its records. */
@Timeout(60)
class SortingCursorOrderTest {

    private final SortedLog changelog = new SortedLog();

    @AfterEach
    void close() throws InterruptedException {
        changelog.close();
    }

    @Test
    void recordsBehindAnotherRegistration_areAppliedBehindIt() throws IOException {
        changelog.register(1, "old");
        changelog.put(1, "b", "old");
        changelog.put(1, "a", "old");
        changelog.register(1, "old");
        changelog.register(1, "new");
        changelog.put(1, "b", "new");
        assertThat(changelog.sorted())
                .containsExactly("META old", "PUT a=old", "PUT b=old", "META new", "PUT b=new");
    }

    @Test
    void changesOfFlinksBuiltInChangelog_comeAsTheyCame() throws IOException {
        changelog.written.append(RecordKind.OPAQUE, 9, 0, SortedLog.bytes("z"), 0, 0, 1);
        changelog.written.append(RecordKind.OPAQUE, 1, 0, SortedLog.bytes("a"), 0, 0, 1);
        changelog.register(1, "known");
        changelog.written.append(RecordKind.OPAQUE, 2, 0, SortedLog.bytes("b"), 0, 0, 1);
        assertThat(changelog.sorted())
                .containsExactly("OPAQUE z", "OPAQUE a", "META known", "OPAQUE b");
    }

    @Test
    void recordThatIsNotRegistered_comesBeforeItsRegistration_toBeRefused() throws IOException {
        changelog.register(1, "known");
        changelog.put(1, "b", "1");
        changelog.put(2, "a", "2");
        changelog.register(2, "late");
        assertThat(changelog.sorted())
                .containsExactly("META known", "PUT b=1", "PUT a=2", "META late");
    }

    @Test
    void recordsOfOtherKeyGroups_areLeftOut() throws IOException {
        changelog.register(1, "known");
        changelog.written.append(RecordKind.PUT, 8, 1, SortedLog.bytes("a"), 1, 1, 1);
        changelog.put(1, "b", "1");
        assertThat(changelog.sorted()).containsExactly("META known", "PUT b=1");
    }

    @Test
    void statesThatKeepTheirOrder_areReadAsWritten() throws IOException {
        changelog.register(1, "known");
        changelog.register(2, "timers");
        changelog.put(2, "b", "added");
        changelog.put(1, "b", "1");
        changelog.put(2, "a", "removed");
        changelog.put(1, "a", "2");
        changelog.written.append(RecordKind.PUT, 8, 2, SortedLog.bytes("c"), 1, 1, 1);
        SortingCursor cursor =
                changelog.cursor(
                        changelog.written.open(),
                        registration -> Arrays.equals(registration, SortedLog.bytes("timers")),
                        changelog.memory,
                        changelog.threads);

        assertThat(SortedLog.drain(cursor))
                .containsExactly(
                        "META known",
                        "META timers",
                        "PUT a=2",
                        "PUT b=1",
                        "PUT b=added",
                        "PUT a=removed");
    }

    @Test
    void bytesRead_includeThoseOfObsoleteRecords() throws IOException {
        changelog.register(1, "known");
        for (int i = 0; i < 100; i++) {
            byte[] bytes = SortedLog.bytes("key value" + i);
            changelog.written.append(RecordKind.PUT, 1, 1, bytes, 3, 3, bytes.length);
        }
        long expected = 0;
        LogRecord record = new LogRecord();
        try (RecordCursor all = changelog.written.open()) {
            while (all.next(record)) {
                expected += record.length();
            }
        }
        SortingCursor cursor =
                changelog.cursor(
                        changelog.written.open(),
                        any -> false,
                        new FakeMemory(Long.MAX_VALUE),
                        changelog.threads);
        assertThat(SortedLog.drain(cursor)).hasSize(2);
        assertThat(cursor.bytesRead()).isEqualTo(expected);
    }

    @Test
    void withoutAThreadToSort_theReaderSorts() throws IOException {
        changelog.register(1, "known");
        changelog.put(1, "b", "1");
        changelog.put(1, "a", "2");
        SortingCursor cursor =
                new SortingCursor(
                        changelog.written.open(),
                        SortedLog.KEY_GROUPS,
                        ReplayOrder.BY_KEY,
                        any -> false,
                        changelog.memory,
                        task -> {
                            throw new RejectedExecutionException("no thread");
                        });
        cursor.start(changelog.threads);
        assertThat(SortedLog.drain(cursor)).containsExactly("META known", "PUT a=2", "PUT b=1");
    }
}
