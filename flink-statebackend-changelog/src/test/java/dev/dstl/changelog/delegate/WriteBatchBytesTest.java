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

package dev.dstl.changelog.delegate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBatch;

/** Write batches are read by RocksDB's own reader. */
class WriteBatchBytesTest {

    static {
        RocksDB.loadLibrary();
    }

    @Property(tries = 200)
    void rocksDbReadsWhatWasWritten(
            @ForAll @IntRange(min = 1, max = 2) int keyGroupBytes,
            @ForAll @IntRange(max = 127) int keyGroup,
            @ForAll @IntRange(min = 1, max = 1_000_000) int columnFamily,
            @ForAll @Size(max = 300) byte[] key,
            @ForAll @Size(max = 40_000) byte[] value)
            throws Exception {
        WriteBatchBytes batch = new WriteBatchBytes(keyGroupBytes, 16);
        LogRecord record = record(keyGroup, key);
        batch.put(columnFamily, record, value, 0, value.length);
        batch.merge(columnFamily, record, value, 0, value.length / 2);
        batch.delete(columnFamily, record);
        List<String> read = read(batch.take());

        byte[] whole = new byte[keyGroupBytes + key.length];
        whole[keyGroupBytes - 1] = (byte) keyGroup;
        System.arraycopy(key, 0, whole, keyGroupBytes, key.length);
        assertThat(read)
                .containsExactly(
                        "put " + columnFamily + " " + text(whole) + " " + text(value),
                        "merge "
                                + columnFamily
                                + " "
                                + text(whole)
                                + " "
                                + text(Arrays.copyOf(value, value.length / 2)),
                        "delete " + columnFamily + " " + text(whole));
        assertThat(batch.isEmpty()).isTrue();
    }

    @Test
    void twoBytesOfKeyGroup_areBigEndian() throws Exception {
        WriteBatchBytes batch = new WriteBatchBytes(2, 16);
        batch.delete(1, record(0x1234, new byte[] {7}));

        assertThat(read(batch.take())).containsExactly("delete 1 " + text(0x12, 0x34, 7));
    }

    @Test
    void aLargeValue_isNotHeldOnTo() throws Exception {
        WriteBatchBytes batch = new WriteBatchBytes(1, 1_000);
        byte[] value = new byte[5_000_000];
        batch.put(1, record(1, new byte[] {7}), value, 0, value.length);
        assertThat(read(batch.take())).hasSize(1);

        batch.delete(1, record(1, new byte[] {7}));
        assertThat(batch.take()).hasSizeLessThan(100);
    }

    private static LogRecord record(int keyGroup, byte[] recordKey) {
        int header = RecordFormat.headerLength(3, recordKey.length, recordKey.length);
        byte[] bytes = new byte[header + recordKey.length];
        RecordFormat.writeHeader(bytes, 0, RecordKind.PUT, 3, recordKey.length, recordKey.length);
        System.arraycopy(recordKey, 0, bytes, header, recordKey.length);
        LogRecord record = new LogRecord();
        record.wrap(keyGroup, bytes, 0, bytes.length);
        return record;
    }

    private static String text(int... bytes) {
        byte[] all = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            all[i] = (byte) bytes[i];
        }
        return text(all);
    }

    private static String text(byte[] bytes) {
        return bytes.length + ":" + Arrays.hashCode(bytes);
    }

    private static List<String> read(byte[] batch) throws Exception {
        List<String> changes = new ArrayList<>();
        try (WriteBatch bytes = new WriteBatch(batch);
                RecordingHandler handler = new RecordingHandler(changes)) {
            bytes.iterate(handler);
            assertThat(bytes.count()).isEqualTo(changes.size());
        }
        return changes;
    }

    private static final class RecordingHandler extends WriteBatch.Handler {

        private final List<String> changes;

        RecordingHandler(List<String> changes) {
            this.changes = changes;
        }

        @Override
        public void put(int columnFamily, byte[] key, byte[] value) {
            changes.add("put " + columnFamily + " " + text(key) + " " + text(value));
        }

        @Override
        public void merge(int columnFamily, byte[] key, byte[] value) {
            changes.add("merge " + columnFamily + " " + text(key) + " " + text(value));
        }

        @Override
        public void delete(int columnFamily, byte[] key) {
            changes.add("delete " + columnFamily + " " + text(key));
        }

        @Override
        public void put(byte[] key, byte[] value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void merge(byte[] key, byte[] value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void delete(byte[] key) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void singleDelete(int columnFamily, byte[] key) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void singleDelete(byte[] key) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void deleteRange(int columnFamily, byte[] from, byte[] to) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void deleteRange(byte[] from, byte[] to) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void logData(byte[] blob) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void putBlobIndex(int columnFamily, byte[] key, byte[] value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markBeginPrepare() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markEndPrepare(byte[] id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markNoop(boolean emptyBatch) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markRollback(byte[] id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void markCommit(byte[] id) {
            throw new UnsupportedOperationException();
        }
    }
}
