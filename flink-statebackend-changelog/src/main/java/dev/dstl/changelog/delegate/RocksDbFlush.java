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

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.util.ResourceGuard;
import org.apache.flink.util.function.SupplierWithException;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Flushes the memtables of RocksDB. Without a write-ahead log, its checkpoints flush them: 50 MB
 * took 0.4 to 0.9 s of the task thread, and 0.2 s when flushed before while the task continued at
 * full speed (two busy cores, 2026-11-22). Then compacts files that overlap much. Keeps the
 * database open while it works on a column family.
 */
final class RocksDbFlush implements DelegateFlush {

    /**
     * Below this number of entries the checkpoint itself may flush, unless the entries are large: a
     * memtable with few entries still occupies a whole block, of 8 MB with Flink's defaults. Each
     * flush creates a file of level 0, and four of these are compacted with all of level 1, so a
     * second flush of what was written during the first would cost more than it saves.
     */
    private static final long FEW_ENTRIES = 100_000;

    private static final long TWO_BLOCKS = 16 << 20;

    private final RocksDB database;
    private final ResourceGuard guard;
    private final List<ColumnFamilyHandle> columnFamilies;
    private final CompactionBackOff backOff;

    RocksDbFlush(AbstractKeyedStateBackend<?> delegate, CompactionBackOff backOff)
            throws ReflectiveOperationException {
        this(
                (RocksDB) RocksDbInternals.database(delegate),
                RocksDbInternals.databaseGuard(delegate),
                columnFamilies(delegate),
                backOff);
    }

    /** Works on these column families; the database is open while {@code guard} is leased. */
    RocksDbFlush(
            RocksDB database,
            ResourceGuard guard,
            List<ColumnFamilyHandle> columnFamilies,
            CompactionBackOff backOff) {
        this.database = database;
        this.guard = guard;
        this.columnFamilies = columnFamilies;
        this.backOff = backOff;
    }

    private static List<ColumnFamilyHandle> columnFamilies(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        for (Object columnFamily : RocksDbInternals.columnFamilies(delegate)) {
            handles.add((ColumnFamilyHandle) columnFamily);
        }
        return handles;
    }

    /**
     * Returns whether there is too little to flush and to compact to use a thread. The database
     * must be open.
     */
    boolean isLittle() throws IOException {
        try {
            return memoryIsLittle() && levelZeroIsLittle();
        } catch (RocksDBException e) {
            throw new IOException("Cannot read a property of RocksDB: " + e.getMessage(), e);
        }
    }

    private boolean memoryIsLittle() throws RocksDBException {
        long entries = 0;
        for (ColumnFamilyHandle columnFamily : columnFamilies) {
            entries += ask(columnFamily, "rocksdb.num-entries-active-mem-table");
            if (ask(columnFamily, "rocksdb.cur-size-active-mem-table") > TWO_BLOCKS) {
                return false;
            }
        }
        return entries < FEW_ENTRIES;
    }

    /** RocksDB flushes full memtables itself, perhaps just now. */
    private boolean levelZeroIsLittle() throws RocksDBException {
        for (ColumnFamilyHandle columnFamily : columnFamilies) {
            if (LevelZeroCompaction.files(database, columnFamily) > 1) {
                return false;
            }
        }
        return true;
    }

    private long ask(ColumnFamilyHandle columnFamily, String property) throws RocksDBException {
        return database.getLongProperty(columnFamily, property);
    }

    /** A task that ends waits for one column family at most. */
    @Override
    public void run() throws IOException {
        try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
            LevelZeroCompaction compaction = new LevelZeroCompaction(database, backOff);
            if (whileOpen(() -> !memoryIsLittle())) {
                for (ColumnFamilyHandle columnFamily : columnFamilies) {
                    whileOpen(
                            () -> {
                                database.flush(options, columnFamily);
                                return null;
                            });
                }
            }
            Set<Integer> ids = new HashSet<>();
            for (ColumnFamilyHandle columnFamily : columnFamilies) {
                whileOpen(
                        () -> {
                            compaction.run(columnFamily);
                            return ids.add(columnFamily.getID());
                        });
            }
            backOff.retain(ids);
        } catch (RocksDBException e) {
            throw new IOException("RocksDB cannot flush or compact: " + e.getMessage(), e);
        }
    }

    /** Keeps the database open during one step; fails if it is being closed. */
    @SuppressWarnings("try") // The lease is held, not used.
    private <T> T whileOpen(SupplierWithException<T, RocksDBException> step)
            throws IOException, RocksDBException {
        try (ResourceGuard.Lease open = guard.acquireResource()) {
            return step.get();
        }
    }
}
