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

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyMetaData;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** RocksDB compacts nothing by itself here. */
class LevelZeroCompactionTest {

    private static final int KEYS = 2_000;
    private static final int VALUE_BYTES = 1_000;

    /** Keys of each flush are between all others, so that no file can move without a rewrite. */
    private static final int SCATTER = 7_919;

    private Path directory;
    private DBOptions options;
    private ColumnFamilyOptions columnFamilyOptions;
    private RocksDB database;
    private final List<ColumnFamilyHandle> handles = new ArrayList<>();
    private ColumnFamilyHandle state;
    private ColumnFamilyHandle other;
    private CompactionBackOff backOff;

    private final Random random = new Random(1);

    @BeforeEach
    @BeforeTry
    void open() throws IOException, RocksDBException {
        RocksDB.loadLibrary();
        directory = Files.createTempDirectory("level-zero");
        options = new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
        columnFamilyOptions = new ColumnFamilyOptions().setDisableAutoCompactions(true);
        List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
        for (String name : List.of("default", "state", "other")) {
            descriptors.add(new ColumnFamilyDescriptor(name.getBytes(UTF_8), columnFamilyOptions));
        }
        handles.clear();
        database = RocksDB.open(options, directory.toString(), descriptors, handles);
        state = handles.get(1);
        other = handles.get(2);
        backOff = new CompactionBackOff();
    }

    @AfterEach
    @AfterTry
    void close() throws IOException {
        handles.forEach(ColumnFamilyHandle::close);
        database.close();
        columnFamilyOptions.close();
        options.close();
        FileUtils.deleteDirectory(directory.toFile());
    }

    /** They would be rewritten, and uploaded again, for nothing. */
    @Test
    void keysThatAreNeverWrittenAgain_areCompactedOnce_andNotAtTheNextMaterialization()
            throws RocksDBException {
        write(state, 0, KEYS);
        assertThat(materialize(state)).as("one file").isFalse();
        write(state, KEYS, 2 * KEYS);
        assertThat(materialize(state)).as("nothing is known yet").isTrue();

        write(state, 2 * KEYS, 4 * KEYS);
        assertThat(materialize(state)).isFalse();
        assertThat(levelZeroFiles(state)).isEqualTo(1);

        write(state, 4 * KEYS, 5 * KEYS);
        assertThat(materialize(state)).as("another try").isTrue();
        for (int skipped = 0; skipped < 2; skipped++) {
            write(state, (5 + skipped) * KEYS, (6 + skipped) * KEYS);
            assertThat(materialize(state)).isFalse();
        }
    }

    @Test
    void keysThatAreWrittenAgain_areCompactedAtEachMaterialization() throws RocksDBException {
        write(state, 0, KEYS);
        materialize(state);
        for (int i = 0; i < 5; i++) {
            write(state, 0, KEYS / 2);
            assertThat(materialize(state)).isTrue();
        }
        assertThat(size(state)).isBetween(KEYS * 1_000L, KEYS * 1_100L);
    }

    @Test
    void keysThatAreWrittenAndDeleted_areCompactedAtEachMaterialization() throws RocksDBException {
        write(state, 0, 3 * KEYS / 2);
        materialize(state);
        int oldest = 0;
        for (int i = 0; i < 5; i++) {
            write(state, oldest + 3 * KEYS / 2, oldest + 2 * KEYS);
            delete(state, oldest, oldest + KEYS / 2);
            oldest += KEYS / 2;
            assertThat(materialize(state)).isTrue();
        }
        assertThat(size(state)).isBetween(KEYS * 1_500L, KEYS * 1_600L);
    }

    @Test
    void stateWhoseKeysAreWrittenAgainAtLast_isCompactedAfter32OpportunitiesAtMost()
            throws RocksDBException {
        int keys = 0;
        int skipped = 0;
        while (skipped < CompactionBackOff.MOST_SKIPPED) {
            int more = 1 + Math.max(KEYS / 2, keys * 2 / 5);
            write(state, keys, keys + more);
            keys += more;
            skipped = 0;
            while (!materialize(state) && keys > KEYS) {
                skipped++;
            }
        }

        write(state, 0, keys);
        int before = 0;
        while (!materialize(state)) {
            before++;
        }
        assertThat(before).isLessThanOrEqualTo(32);

        write(state, 0, keys);
        assertThat(materialize(state)).as("one that saves resets that").isTrue();
    }

    @Test
    void columnFamilies_areCompactedForWhatEachHasSaved() throws RocksDBException {
        write(state, 0, KEYS);
        write(other, 0, KEYS);
        materialize(state);
        materialize(other);
        for (int i = 1; i <= 2; i++) {
            write(state, i * KEYS, (i + 1) * KEYS);
            write(other, 0, KEYS);
            assertThat(materialize(state)).as("new keys").isEqualTo(i == 1);
            assertThat(materialize(other)).as("keys written again").isTrue();
        }
    }

    @Test
    void whatRocksDbFlushesMeanwhile_doesNotCountAsWritten() throws RocksDBException {
        write(state, 0, KEYS);
        flush(state);
        write(state, 0, KEYS);
        flush(state);
        ColumnFamilyMetaData before = database.getColumnFamilyMetaData(state);
        database.compactRange(state);
        write(state, KEYS, 2 * KEYS);
        flush(state);

        new LevelZeroCompaction(database, backOff)
                .measure(state, before, database.getColumnFamilyMetaData(state));
        assertThat(backOff.skips(state.getID())).isFalse();
    }

    /** Writes new keys, old ones again, and deletes, in phases that differ by column family. */
    @Property(tries = 4)
    void randomUse_losesNothing_andIsCompactedAsMuchAsItSaves(@ForAll long seed)
            throws RocksDBException {
        Random use = new Random(seed);
        List<RandomUse> families =
                List.of(new RandomUse(state, use.nextLong()), new RandomUse(other, use.nextLong()));
        for (int round = 0; round < 20; round++) {
            for (RandomUse family : families) {
                family.change();
                family.materialize();
            }
        }
        for (RandomUse family : families) {
            family.verify();
        }
    }

    /** A column family, what it must contain, and how many opportunities it may still skip. */
    private final class RandomUse {

        private final ColumnFamilyHandle columnFamily;
        private final Random use;
        private final Map<Integer, byte[]> expected = new TreeMap<>();
        private double newKeys;
        private double deletions;
        private int keys;
        private int skips;
        private int skipsNext = 1;

        RandomUse(ColumnFamilyHandle columnFamily, long seed) {
            this.columnFamily = columnFamily;
            this.use = new Random(seed);
        }

        void change() throws RocksDBException {
            if (use.nextInt(8) == 0 || keys == 0) {
                newKeys = use.nextBoolean() ? 1 : use.nextDouble();
                deletions = use.nextBoolean() ? 0 : use.nextDouble() / 2;
            }
            int changes = 200 + use.nextInt(600);
            for (int i = 0; i < changes; i++) {
                int key = keys == 0 || use.nextDouble() < newKeys ? keys++ : use.nextInt(keys);
                if (use.nextDouble() < deletions) {
                    int deleted = use.nextInt(keys);
                    database.delete(columnFamily, key(deleted));
                    expected.remove(deleted);
                } else {
                    byte[] value = value();
                    database.put(columnFamily, key(key), value);
                    expected.put(key, value);
                }
            }
        }

        void materialize() throws RocksDBException {
            flush(columnFamily);
            long before = size(columnFamily);
            long zero = database.getColumnFamilyMetaData(columnFamily).levels().get(0).size();
            boolean opportunity =
                    before >= 1 << 20
                            && zero > 0
                            && zero >= (before - zero) / 3
                            && database.getColumnFamilyMetaData(columnFamily).fileCount() > 1;

            boolean compacted = LevelZeroCompactionTest.this.materialize(columnFamily);

            assertThat(compacted).isEqualTo(opportunity && skips == 0);
            if (compacted && before - size(columnFamily) >= before / 5) {
                skips = 0;
                skipsNext = 1;
            } else if (compacted) {
                skips = skipsNext;
                skipsNext = Math.min(2 * skipsNext, 32);
            } else if (opportunity) {
                skips--;
            }
        }

        void verify() throws RocksDBException {
            for (int key = 0; key < keys; key++) {
                assertThat(database.get(columnFamily, key(key))).isEqualTo(expected.get(key));
            }
        }
    }

    /** Returns whether that has compacted. */
    private boolean materialize(ColumnFamilyHandle columnFamily) throws RocksDBException {
        flush(columnFamily);
        List<String> before = fileNames(columnFamily);
        new LevelZeroCompaction(database, backOff).run(columnFamily);
        return !fileNames(columnFamily).equals(before);
    }

    private void write(ColumnFamilyHandle columnFamily, int from, int to) throws RocksDBException {
        for (int key = from; key < to; key++) {
            database.put(columnFamily, key(key), value());
        }
    }

    private void delete(ColumnFamilyHandle columnFamily, int from, int to) throws RocksDBException {
        for (int key = from; key < to; key++) {
            database.delete(columnFamily, key(key));
        }
    }

    private void flush(ColumnFamilyHandle columnFamily) throws RocksDBException {
        try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
            database.flush(wait, columnFamily);
        }
    }

    private byte[] value() {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        return value;
    }

    private static byte[] key(int number) {
        return String.format("%05d-%d", (long) number * SCATTER % 100_003, number).getBytes(UTF_8);
    }

    private long size(ColumnFamilyHandle columnFamily) {
        return database.getColumnFamilyMetaData(columnFamily).size();
    }

    private int levelZeroFiles(ColumnFamilyHandle columnFamily) {
        return database.getColumnFamilyMetaData(columnFamily).levels().get(0).files().size();
    }

    private List<String> fileNames(ColumnFamilyHandle columnFamily) {
        return database.getColumnFamilyMetaData(columnFamily).levels().stream()
                .flatMap(level -> level.files().stream())
                .map(file -> file.fileName())
                .sorted()
                .collect(Collectors.toList());
    }
}
