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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.Delegate;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.util.ResourceGuard;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyMetaData;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;

class RocksDbFlushTest {

    private static final int KEYS = 120_000;
    private static final int VALUE_BYTES = 50;

    private final Random random = new Random(1);
    private final CompactionBackOff backOff = new CompactionBackOff();
    private Delegate<Integer> delegate;
    private ValueState<byte[]> state;

    @BeforeEach
    void create() throws Exception {
        delegate = Delegate.Kind.ROCKS_DB.create(IntSerializer.INSTANCE);
        state = state("state");
    }

    private ValueState<byte[]> state(String name) throws Exception {
        return backend()
                .getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>(name, BytePrimitiveArraySerializer.INSTANCE));
    }

    @AfterEach
    void close() throws Exception {
        delegate.close();
    }

    @Test
    void keysThatAreWrittenAgain_takeTheirSpaceOnce() throws Exception {
        write(0, KEYS);
        flush();
        long once = files().size();
        for (int i = 0; i < 2; i++) {
            write(0, KEYS);
            flush();
        }
        assertThat(files().size()).isLessThan(once * 3 / 2);
        assertValues(0, KEYS);
    }

    @Test
    void twoFifthsOfTheKeysWrittenAgain_takeTheirSpaceOnce() throws Exception {
        write(0, KEYS);
        flush();
        long once = files().size();
        write(0, KEYS * 2 / 5);
        flush();
        assertThat(files().size()).isLessThan(once * 6 / 5);
        assertValues(0, KEYS);
    }

    /** Otherwise a snapshot right after a flush of RocksDB would have several times the size. */
    @Test
    void whatRocksDbHasFlushedItself_takesItsSpaceOnce_thoughLittleIsInMemory() throws Exception {
        write(0, KEYS);
        flush();
        long once = files().size();
        for (int i = 0; i < 2; i++) {
            write(0, KEYS);
            flushByRocksDb();
        }
        write(0, 1);

        DelegateFlush flush = DelegateFlush.of(backend(), backOff);
        assertThat(flush).isNotNull();
        flush.run();
        assertThat(files().levels().get(0).files()).isEmpty();
        assertThat(files().size()).isLessThan(once * 6 / 5);
        assertValues(0, KEYS);
    }

    @Test
    void littleInMemoryAndOneFileOfLevelZero_areNotWorthAThread() throws Exception {
        write(0, 10);
        flushByRocksDb();
        write(0, 10);
        assertThat(DelegateFlush.of(backend(), backOff)).isNull();
    }

    @Test
    void newKeys_areLeftToRocksDb_onceTheyAreFew() throws Exception {
        write(0, KEYS);
        flush();
        write(KEYS, 5 * KEYS);
        flush();
        long largest = files().levels().get(0).size();
        assertThat(largest).isZero();
        write(5 * KEYS, 6 * KEYS);
        flush();
        assertThat(files().levels().get(0).files()).isNotEmpty();
        assertValues(0, 6 * KEYS);
    }

    @Test
    void databaseThatIsBeingClosed_isKeptOpenForOneColumnFamily_andNotForTheNext()
            throws Exception {
        ValueState<byte[]> other = state("other");
        write(0, KEYS);
        other.update(new byte[VALUE_BYTES]);
        ResourceGuard closedDuringTheFirstFlush =
                new ResourceGuard() {
                    private int leases;

                    @Override
                    public Lease acquireResource() throws IOException {
                        if (++leases > 2) {
                            throw new IOException("closed");
                        }
                        return super.acquireResource();
                    }
                };
        RocksDbFlush flush =
                new RocksDbFlush(
                        (RocksDB) RocksDbInternals.database(backend()),
                        closedDuringTheFirstFlush,
                        List.of(columnFamily("state"), columnFamily("other")),
                        backOff);

        assertThatThrownBy(flush::run).hasMessage("closed");

        assertThat(files("state").size()).isPositive();
        assertThat(files("other").size()).isZero();
        assertThat(closedDuringTheFirstFlush.getLeaseCount()).isZero();
    }

    private void write(int from, int to) throws Exception {
        byte[] value = new byte[VALUE_BYTES];
        for (int key = from; key < to; key++) {
            random.nextBytes(value);
            value[0] = (byte) key;
            backend().setCurrentKey(key);
            state.update(value);
        }
    }

    private void assertValues(int from, int to) throws Exception {
        for (int key = from; key < to; key++) {
            backend().setCurrentKey(key);
            assertThat(state.value()[0]).isEqualTo((byte) key);
        }
    }

    private void flush() throws Exception {
        new RocksDbFlush(backend(), backOff).run();
    }

    private void flushByRocksDb() throws Exception {
        RocksDB database = (RocksDB) RocksDbInternals.database(backend());
        try (FlushOptions options = new FlushOptions()) {
            database.flush(options, columnFamily("state"));
        }
    }

    private ColumnFamilyMetaData files() throws ReflectiveOperationException {
        return files("state");
    }

    private ColumnFamilyMetaData files(String name) throws ReflectiveOperationException {
        RocksDB database = (RocksDB) RocksDbInternals.database(backend());
        return database.getColumnFamilyMetaData(columnFamily(name));
    }

    private ColumnFamilyHandle columnFamily(String name) throws ReflectiveOperationException {
        return (ColumnFamilyHandle) RocksDbInternals.columnFamily(backend(), name);
    }

    private AbstractKeyedStateBackend<Integer> backend() {
        return delegate.backend();
    }
}
