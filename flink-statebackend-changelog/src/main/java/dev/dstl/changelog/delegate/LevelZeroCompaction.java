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

import java.util.HashMap;
import java.util.Map;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyMetaData;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.CompactRangeOptions.BottommostLevelCompaction;
import org.rocksdb.CompactionStyle;
import org.rocksdb.LevelMetaData;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileMetaData;

/**
 * Compacts level 0 of a RocksDB database where it is large in relation to the other levels. RocksDB
 * itself waits for four files. With a snapshot every second these are small, but with rare ones
 * each has a whole memtable, so that entries that are written often are in several of them: a
 * sliding window took twice the space (30 s between materializations, 2026-11-23). A snapshot
 * uploads and a restore fetches all of them. Where earlier compactions saved little, {@link
 * CompactionBackOff} skips most.
 */
final class LevelZeroCompaction {

    /** Level 0 is compacted if it has at least one part in so many of the other levels' size. */
    private static final int LARGE_FRACTION = 3;

    /**
     * Larger column families are left to RocksDB. Compacting this much takes a few seconds, which
     * closing the database waits for.
     */
    private static final long LARGEST_BYTES = 256 << 20;

    /** Of smaller column families there is nothing to gain, and their files stay shared. */
    private static final long SMALLEST_BYTES = 1 << 20;

    private final RocksDB database;
    private final CompactionBackOff backOff;

    LevelZeroCompaction(RocksDB database, CompactionBackOff backOff) {
        this.database = database;
        this.backOff = backOff;
    }

    /** Returns the number of files that level 0 of a column family has. */
    static int files(RocksDB database, ColumnFamilyHandle columnFamily) throws RocksDBException {
        return Integer.parseInt(database.getProperty(columnFamily, "rocksdb.num-files-at-level0"));
    }

    /** Compacts a column family if that is worthwhile; blocks. The database must stay open. */
    void run(ColumnFamilyHandle columnFamily) throws RocksDBException {
        ColumnFamilyMetaData before = database.getColumnFamilyMetaData(columnFamily);
        if (hasLargeLevelZero(before)
                && hasLevels(columnFamily)
                && !backOff.skips(columnFamily.getID())) {
            compact(columnFamily);
            measure(columnFamily, before, database.getColumnFamilyMetaData(columnFamily));
        }
    }

    /**
     * Compares files, not sizes: RocksDB may have flushed meanwhile, which adds files to level 0.
     * If it has also compacted these, they count as written, so that too little seems saved, and
     * one opportunity is skipped. Its own compactions of other files count like this one.
     */
    void measure(
            ColumnFamilyHandle columnFamily,
            ColumnFamilyMetaData before,
            ColumnFamilyMetaData after) {
        Map<String, Long> replaced = new HashMap<>();
        for (LevelMetaData level : before.levels()) {
            for (SstFileMetaData file : level.files()) {
                replaced.put(file.fileName(), file.size());
            }
        }
        long writtenBytes = 0;
        for (LevelMetaData level : after.levels()) {
            for (SstFileMetaData file : level.files()) {
                boolean isNew = replaced.remove(file.fileName()) == null;
                if (isNew && level.level() > 0) {
                    writtenBytes += file.size();
                }
            }
        }
        long rewrittenBytes = replaced.values().stream().mapToLong(Long::longValue).sum();
        backOff.compacted(columnFamily.getID(), rewrittenBytes, rewrittenBytes - writtenBytes);
    }

    private void compact(ColumnFamilyHandle columnFamily) throws RocksDBException {
        try (CompactRangeOptions options =
                new CompactRangeOptions()
                        .setExclusiveManualCompaction(false)
                        .setBottommostLevelCompaction(BottommostLevelCompaction.kSkip)) {
            database.compactRange(columnFamily, null, null, options);
        }
    }

    private static boolean hasLargeLevelZero(ColumnFamilyMetaData columnFamily) {
        LevelMetaData zero = columnFamily.levels().get(0);
        long others = columnFamily.size() - zero.size();
        return columnFamily.size() >= SMALLEST_BYTES
                && columnFamily.size() <= LARGEST_BYTES
                && zero.size() >= others / LARGE_FRACTION
                && columnFamily.fileCount() > 1
                && !zero.files().isEmpty();
    }

    private static boolean hasLevels(ColumnFamilyHandle columnFamily) throws RocksDBException {
        try (ColumnFamilyOptions options = columnFamily.getDescriptor().getOptions()) {
            return options.compactionStyle() == CompactionStyle.LEVEL;
        }
    }
}
