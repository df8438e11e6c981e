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
import dev.dstl.log.testing.FaultyStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failed reads are retried, and a lost copy costs a read of the original. */
class SegmentCopyTest {

    private static final KeyGroupRange ALL = KeyGroupRange.of(0, 127);

    @TempDir java.nio.file.Path directory;

    private final FaultyStore store = FaultyStore.create();
    private final AtomicInteger copyFailures = new AtomicInteger();
    private final AtomicInteger retries = new AtomicInteger();
    private final ReadSession session =
            new ReadSession(4, 0, System::nanoTime, () -> retries.incrementAndGet(), () -> {});
    private final List<TestRecord> records = new ArrayList<>();
    private EncodedSegment encoded;
    private byte[] bytes;
    private Path original;
    private java.nio.file.Path file;
    private SegmentCopy copy;

    @BeforeEach
    void write() throws IOException {
        Random random = new Random(5);
        for (int keyGroup = 0; keyGroup < 100; keyGroup++) {
            byte[] payload = new byte[1000];
            random.nextBytes(payload);
            records.add(
                    new TestRecord(
                            RecordKind.PUT, keyGroup, 1, 1, new byte[] {(byte) keyGroup}, payload));
        }
        encoded =
                TestSegments.encode(new SegmentEncoder(SegmentCodec.NONE, 1024), List.of(records));
        bytes = TestSegments.bytes(encoded);
        original = new Path(store.basePath(), "1.seg");
        try (FSDataOutputStream out =
                original.getFileSystem().create(original, WriteMode.OVERWRITE)) {
            out.write(bytes);
        }
        file = directory.resolve("1.seg");
        Files.write(file, bytes);
        copy =
                new SegmentCopy(
                        new FileStateHandle(new Path(file.toUri()), bytes.length),
                        new FileStateHandle(original, bytes.length),
                        copyFailures::incrementAndGet);
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void copyThatIsThere_isRead_andTheStoreIsNotAsked() throws IOException {
        assertThat(read(copy)).isEqualTo(records);
        assertThat(store.requests("open")).isZero();
        assertThat(copyFailures).hasValue(0);
    }

    @Test
    void copyThatVanished_isLeftForTheOriginal() throws Exception {
        Files.delete(file);
        assertThat(read(copy)).isEqualTo(records);
        assertThat(copyFailures).hasValue(1);
        SegmentCopy elsewhere = InstantiationUtil.clone(copy);
        assertThat(read(elsewhere)).isEqualTo(records);
        assertThat(elsewhere).isEqualTo(copy).hasSameHashCodeAs(copy);
    }

    @Test
    void readThatIsGivenUp_losesTheCopyOnlyIfItReadTheCopy() throws Exception {
        session.begin(copy.original());
        session.giveUp(0);
        assertThat(copyFailures).hasValue(0);
        assertThat(session.unreadable()).containsExactly(copy.original());
        assertThatThrownBy(session::end).isInstanceOf(InterruptedIOException.class);

        ReadSession other = new ReadSession(4, 0, System::nanoTime, () -> {}, () -> {});
        other.begin(copy);
        other.giveUp(0);
        assertThat(copyFailures).hasValue(1);
        assertThat(other.unreadable()).containsExactly(copy.original());
        assertThatThrownBy(other::end).isInstanceOf(InterruptedIOException.class);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.01, 0.3, 0.7, 0.95})
    void copyThatIsCutOff_isLeftForTheOriginal(double share) throws IOException {
        Files.write(file, Arrays.copyOf(bytes, (int) (share * bytes.length)));
        assertThat(read(copy)).isEqualTo(records);
    }

    @Test
    void copyWithAnyDamage_isLeftForTheOriginal() throws IOException {
        Random random = new Random(7);
        for (int i = 0; i < 200; i++) {
            byte[] damaged = bytes.clone();
            damaged[random.nextInt(bytes.length)] ^= (byte) (1 + random.nextInt(255));
            Files.write(file, damaged);
            assertThat(read(copy)).isEqualTo(records);
        }
        assertThat(copyFailures.get()).isGreaterThan(150);
    }

    @Test
    void damagedOriginal_isReportedWithItsOwnName() throws IOException {
        Files.delete(file);
        byte[] damaged = bytes.clone();
        damaged[bytes.length / 2] ^= 1;
        try (FSDataOutputStream out =
                original.getFileSystem().create(original, WriteMode.OVERWRITE)) {
            out.write(damaged);
        }
        assertThatThrownBy(() -> read(copy))
                .isInstanceOf(CorruptSegmentException.class)
                .hasMessageContaining(original.toString());
    }

    @Test
    void readsThatFailInARow_areTriedAgain_untilThereAreTooMany() throws IOException {
        AtomicInteger failures = new AtomicInteger(3);
        store.beforeReads(
                path -> {
                    if (failures.getAndDecrement() > 0) {
                        throw new IOException("503");
                    }
                });
        assertThat(read(copy.original())).isEqualTo(records);
        assertThat(retries).hasValue(3);
        store.beforeReads(
                path -> {
                    throw new IOException("503");
                });
        assertThatThrownBy(() -> read(copy.original()))
                .hasMessage("Segment " + original + " cannot be read: IOException: 503");
        assertThat(session.unreadable()).containsExactly(copy.original());
    }

    @Test
    void copyAndOriginalThatBothFail_areNotReadForEver() throws IOException {
        Files.delete(file);
        store.beforeReads(
                path -> {
                    throw new IOException("503");
                });
        assertThatThrownBy(() -> read(copy))
                .hasMessage("Segment " + original + " cannot be read: IOException: 503");
        assertThat(copyFailures).hasValue(1);
        assertThat(retries).hasValue(3);
    }

    @Test
    void segmentThatIsGone_isNotWaitedFor() throws IOException {
        assertThat(original.getFileSystem().delete(original, false)).isTrue();
        assertThatThrownBy(() -> read(copy.original()))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("is gone");
        assertThat(retries).hasValue(0);
    }

    private List<TestRecord> read(StreamStateHandle handle) throws IOException {
        try (SegmentReader reader = SegmentReader.open(handle, session);
                FrameCursor cursor = new FrameCursor()) {
            cursor.start(reader, reader.frameAt(encoded.frameOffset(0)), ALL);
            return TestRecord.readAll(cursor);
        }
    }
}
