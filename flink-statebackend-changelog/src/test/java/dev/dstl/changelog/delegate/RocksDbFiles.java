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

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.MutableColumnFamilyOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Files of the RocksDB database of a keyed backend, which from now on compacts nothing itself. */
public final class RocksDbFiles {

    private final RocksDB database;
    private final List<ColumnFamilyHandle> columnFamilies = new ArrayList<>();

    /** Works on the states that {@code backend} has now. */
    public RocksDbFiles(AbstractKeyedStateBackend<?> backend) throws Exception {
        database = (RocksDB) RocksDbInternals.database(backend);
        for (Object columnFamily : RocksDbInternals.columnFamilies(backend)) {
            columnFamilies.add((ColumnFamilyHandle) columnFamily);
            database.setOptions(
                    (ColumnFamilyHandle) columnFamily,
                    MutableColumnFamilyOptions.builder().setDisableAutoCompactions(true).build());
        }
    }

    /** Flushes all memtables. */
    public void flush() throws RocksDBException {
        try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
            database.flush(wait, columnFamilies);
        }
    }

    /** Returns the number of files in level 0 of all states. */
    public int levelZero() throws RocksDBException {
        int files = 0;
        for (ColumnFamilyHandle columnFamily : columnFamilies) {
            files += LevelZeroCompaction.files(database, columnFamily);
        }
        return files;
    }
}
