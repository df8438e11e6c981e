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

package dev.dstl.log.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.replay.ReadAheadBudget;
import dev.dstl.log.testing.FaultyStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A read of a restore that never ends is repeated, whether or not the client is interruptible. */
@Timeout(60)
class HangingReadTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);

    private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);

    /** Long enough that a healthy read is seldom abandoned. */
    private static final long PATIENCE_MILLIS = 2_000;

    private final FaultyStore store = FaultyStore.create();
    private final AtomicInteger retries = new AtomicInteger();
    private final List<TestRecord> records = new ArrayList<>();
    private final List<Tuple2<StreamStateHandle, Long>> positions = new ArrayList<>();

    private enum Client {
        HEEDS_INTERRUPTS,
        UNINTERRUPTIBLE
    }

    @BeforeEach
    void write() throws IOException {
        for (int segment = 0; segment < 3; segment++) {
            List<TestRecord> content =
                    List.of(
                            new TestRecord(
                                    RecordKind.PUT,
                                    segment,
                                    1,
                                    1,
                                    new byte[] {(byte) segment},
                                    new byte[1_000]));
            records.addAll(content);
            EncodedSegment encoded =
                    TestSegments.encode(
                            new SegmentEncoder(SegmentCodec.NONE, 1024), segment, List.of(content));
            Path file = new Path(store.basePath(), segment + ".seg");
            byte[] bytes = TestSegments.bytes(encoded);
            try (FSDataOutputStream out = file.getFileSystem().create(file, WriteMode.OVERWRITE)) {
                out.write(bytes);
            }
            positions.add(
                    Tuple2.of(new FileStateHandle(file, bytes.length), encoded.frameOffset(0)));
        }
    }

    @AfterEach
    void release() {
        store.beforeReads(file -> {});
        store.releaseHanging();
    }

    @ParameterizedTest
    @EnumSource
    void readThatHangsOnce_isAbandonedAndTriedAgain(Client client) throws Exception {
        for (int read = 0; read < 4; read++) {
            hang(client, read, 1);
            retries.set(0);
            assertThat(read(new DstlHandleReader(), PATIENCE_MILLIS, noneIsSlow()))
                    .isEqualTo(records);
            // A busy machine may keep a healthy read waiting for as long.
            assertThat(retries.get()).as("retries where read %d hangs", read).isPositive();
        }
    }

    /** With a patience of an hour, only the second request can be what answers. */
    @ParameterizedTest
    @EnumSource
    void slowRequest_isReplacedByASecondOne(Client client) throws Exception {
        hang(client, 3, 1);
        assertThat(read(new DstlHandleReader(), HOUR_MILLIS, new AnswerTimes())).isEqualTo(records);
        assertThat(retries.get()).isPositive();
    }

    @Test
    void request_isSlow_ifItTakesFourTimesAsLongAsTheSlowestBefore() {
        ReadSession session = ReadSession.ofRestore();
        assertThat(session.earlyRetryMillis()).isEqualTo(1_000);
        session.answered(TimeUnit.MILLISECONDS.toNanos(20));
        assertThat(session.earlyRetryMillis()).as("other work of the process").isEqualTo(300);
        session.answered(TimeUnit.MILLISECONDS.toNanos(500));
        session.answered(TimeUnit.MILLISECONDS.toNanos(20));
        assertThat(session.earlyRetryMillis()).isEqualTo(2_000);
        session.answered(TimeUnit.SECONDS.toNanos(5));
        assertThat(session.earlyRetryMillis()).isGreaterThan(session.patienceMillis(0));
    }

    @Test
    void readAheadThatHangsOnce_isAbandonedAndTriedAgain() throws Exception {
        hang(Client.UNINTERRUPTIBLE, 4, 1);
        DstlHandleReader reader = new DstlHandleReader(new ReadAheadBudget(1 << 20));
        assertThat(read(reader, PATIENCE_MILLIS, noneIsSlow())).isEqualTo(records);
        assertThat(retries.get()).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void readThatAlwaysHangs_failsTheRestore_andNamesFileAndOffsetAndTries(Client client) {
        hang(client, 0, Integer.MAX_VALUE);
        assertThatThrownBy(() -> read(new DstlHandleReader(), 20, noneIsSlow()))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining(
                        "Segment " + ((FileStateHandle) positions.get(0).f0).getFilePath())
                .hasMessageContaining("no byte at offset 0 for 0 s in try 4");
        assertThat(retries).hasValue(3);
    }

    @Test
    void taskThatIsCancelled_waitsForNoRead() throws Exception {
        hang(Client.UNINTERRUPTIBLE, 1, Integer.MAX_VALUE);
        AtomicInteger interrupted = new AtomicInteger();
        Thread task =
                new Thread(
                        () -> {
                            try {
                                read(new DstlHandleReader(), HOUR_MILLIS, noneIsSlow());
                            } catch (InterruptedIOException e) {
                                interrupted.incrementAndGet();
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
        task.start();
        while (store.hangingReads() == 0) {
            Thread.sleep(1);
        }
        task.interrupt();
        task.join();
        assertThat(interrupted).hasValue(1);
    }

    private void hang(Client client, int first, int count) {
        AtomicInteger reads = new AtomicInteger();
        store.beforeReads(
                file -> {
                    int read = reads.getAndIncrement();
                    if (read < first || read >= (long) first + count) {
                        return;
                    }
                    if (client == Client.UNINTERRUPTIBLE) {
                        store.hangRead();
                    } else {
                        store.hangReadUntilInterrupted();
                    }
                });
    }

    /** Answer times by which no request is slow. */
    private static AnswerTimes noneIsSlow() {
        return new AnswerTimes(HOUR_MILLIS, HOUR_MILLIS);
    }

    private List<TestRecord> read(DstlHandleReader reader, long patienceMillis, AnswerTimes answers)
            throws Exception {
        ChangelogStateHandleStreamImpl handle =
                new ChangelogStateHandleStreamImpl(
                        positions, ALL, 3_000, 0, DstlHandleReader.STORAGE_IDENTIFIER);
        ReadSession session =
                ReadSession.ofRestore(patienceMillis, answers, () -> retries.incrementAndGet());
        try (var cursor = reader.open(handle, session)) {
            return TestRecord.readAll(cursor);
        }
    }
}
