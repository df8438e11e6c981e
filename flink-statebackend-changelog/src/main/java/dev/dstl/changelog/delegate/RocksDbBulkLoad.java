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

import dev.dstl.log.api.LogRecord;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Loads RocksDB in batches of {@value #BATCH_BYTES} bytes, without a call per entry, and with
 * compactions suspended, since the next batches would change again what they rewrite. Used by the
 * task thread.
 */
final class RocksDbBulkLoad implements BulkLoad {

    private static final int BATCH_BYTES = 1 << 20;

    /** Number of batches between checks of the number of files. */
    private static final int BATCHES_PER_CHECK = 16;

    /** Compactions resume when the number of files is this close to RocksDB's write slowdown. */
    private static final int FILES_TO_SLOWDOWN = 4;

    private final AbstractKeyedStateBackend<?> delegate;
    private final RocksDB database;
    private final WriteBatchBytes batch;
    private final WriteOptions writeOptions = new WriteOptions().setDisableWAL(true);

    /** By state: whether its compactions were stopped here or by the job is known once. */
    private final Map<String, Target> targets = new HashMap<>();

    RocksDbBulkLoad(AbstractKeyedStateBackend<?> delegate) throws ReflectiveOperationException {
        this.delegate = delegate;
        this.database = (RocksDB) RocksDbInternals.database(delegate);
        this.batch =
                new WriteBatchBytes(
                        RocksDbInternals.keyGroupBytes(delegate), BATCH_BYTES + BATCH_BYTES / 8);
    }

    /**
     * Returns null if both key and namespace are of variable length: Flink then appends the length
     * of the key to each key, which records do not contain.
     */
    @Override
    @Nullable
    public BulkTarget state(String name, TypeSerializer<?> namespaceSerializer) {
        boolean withLengths =
                delegate.getKeySerializer().getLength() < 0 && namespaceSerializer.getLength() < 0;
        return withLengths ? null : target(name);
    }

    @Override
    @Nullable
    public BulkTarget queue(String name) {
        return target(name);
    }

    @Nullable
    private BulkTarget target(String name) {
        try {
            ColumnFamilyHandle handle = columnFamily(name);
            return handle == null
                    ? null
                    : targets.compute(
                            name,
                            (key, known) ->
                                    known != null && known.isOf(handle)
                                            ? known
                                            : new Target(handle));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    @Nullable
    private ColumnFamilyHandle columnFamily(String name) throws ReflectiveOperationException {
        return (ColumnFamilyHandle) RocksDbInternals.columnFamily(delegate, name);
    }

    /** Flink replaces the column family of a state whose time to live is switched on or off. */
    private boolean isReplaced(String name, Target target) {
        try {
            ColumnFamilyHandle handle = columnFamily(name);
            return handle == null || !target.isOf(handle);
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private void write() throws IOException {
        if (batch.isEmpty()) {
            return;
        }
        try (WriteBatch bytes = new WriteBatch(batch.take())) {
            database.write(writeOptions, bytes);
        } catch (RocksDBException e) {
            throw new IOException("RocksDB cannot write: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        writeOptions.close();
        for (Map.Entry<String, Target> target : targets.entrySet()) {
            if (!isReplaced(target.getKey(), target.getValue())) {
                target.getValue().compactAgain();
            }
        }
    }

    private final class Target implements BulkTarget {

        private final ColumnFamilyHandle columnFamily;
        private final int id;
        private int batches;
        private boolean compactionsStopped;

        Target(ColumnFamilyHandle columnFamily) {
            this.columnFamily = columnFamily;
            this.id = columnFamily.getID();
        }

        boolean isOf(ColumnFamilyHandle handle) {
            return handle.getID() == id;
        }

        @Override
        public void put(LogRecord record, byte[] value, int offset, int length) throws IOException {
            batch.put(id, record, value, offset, length);
            writeIfFull();
        }

        @Override
        public void append(LogRecord record, byte[] value, int offset, int length)
                throws IOException {
            batch.merge(id, record, value, offset, length);
            writeIfFull();
        }

        @Override
        public void delete(LogRecord record) throws IOException {
            batch.delete(id, record);
            writeIfFull();
        }

        @Override
        public void flush() throws IOException {
            write();
        }

        private void writeIfFull() throws IOException {
            if (batch.length() >= BATCH_BYTES) {
                write();
                if (batches++ % BATCHES_PER_CHECK == 0) {
                    stopCompactions(fewFiles());
                }
            }
        }

        /** Also false if the job has stopped compactions, which then must not be resumed. */
        private boolean fewFiles() throws IOException {
            try (ColumnFamilyOptions options = columnFamily.getDescriptor().getOptions()) {
                return (compactionsStopped || !options.disableAutoCompactions())
                        && LevelZeroCompaction.files(database, columnFamily)
                                < options.level0SlowdownWritesTrigger() - FILES_TO_SLOWDOWN;
            } catch (RocksDBException e) {
                throw new IOException("Cannot read a property of RocksDB: " + e.getMessage(), e);
            }
        }

        private void stopCompactions(boolean stop) throws IOException {
            if (stop == compactionsStopped) {
                return;
            }
            try {
                database.setOptions(
                        columnFamily,
                        MutableColumnFamilyOptions.builder()
                                .setDisableAutoCompactions(stop)
                                .build());
                compactionsStopped = stop;
            } catch (RocksDBException e) {
                throw new IOException("RocksDB cannot be configured: " + e.getMessage(), e);
            }
        }

        void compactAgain() throws IOException {
            stopCompactions(false);
        }
    }
}
