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

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.nio.ByteBuffer;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;

class BulkLoadTest {

    private static final int VALUE_BYTES = 100_000;

    @Test
    void heapBackends_areWrittenEntryByEntry() throws Exception {
        try (Delegate<Integer> delegate = Delegate.Kind.HASH_MAP.create(IntSerializer.INSTANCE)) {
            assertThat(BulkLoad.of(delegate.backend())).isNull();
        }
    }

    @Test
    void timersOnTheHeap_areWrittenEntryByEntry() throws Exception {
        try (Delegate<Integer> delegate =
                        Delegate.Kind.ROCKS_DB_WITH_HEAP_TIMERS.create(IntSerializer.INSTANCE);
                BulkLoad load = BulkLoad.of(delegate.backend())) {
            assertThat(load.queue("timers")).isNull();
        }
    }

    @Test
    void keysWithLengthsBehindThem_areWrittenEntryByEntry() throws Exception {
        try (Delegate<String> delegate = Delegate.Kind.ROCKS_DB.create(StringSerializer.INSTANCE);
                BulkLoad load = BulkLoad.of(delegate.backend())) {
            state(delegate, "value");
            assertThat(load.state("value", StringSerializer.INSTANCE)).isNull();
            assertThat(load.state("value", IntSerializer.INSTANCE)).isNotNull();
            assertThat(load.state("other", IntSerializer.INSTANCE)).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 250})
    void afterIt_entriesAreReadableAndCompactionsGoOn(int entries) throws Exception {
        try (Delegate<Integer> delegate = Delegate.Kind.ROCKS_DB.create(IntSerializer.INSTANCE)) {
            ValueState<byte[]> state = state(delegate, "value");
            boolean whileLoading;
            try (BulkLoad load = BulkLoad.of(delegate.backend())) {
                BulkTarget target = load.state("value", VoidNamespaceSerializer.INSTANCE);
                for (int key = 0; key < entries; key++) {
                    target.put(put(delegate, key));
                }
                target.flush();
                whileLoading = compactsAutomatically(delegate);
            }
            assertThat(whileLoading).isEqualTo(entries == 1);
            assertThat(compactsAutomatically(delegate)).isTrue();
            for (int key = 0; key < entries; key++) {
                delegate.backend().setCurrentKey(key);
                assertThat(state.value()).isEqualTo(value(key));
            }
        }
    }

    @Test
    void severalChangelogsOfAState_knowTogetherWhoStoppedItsCompactions() throws Exception {
        try (Delegate<Integer> delegate = Delegate.Kind.ROCKS_DB.create(IntSerializer.INSTANCE);
                BulkLoad load = BulkLoad.of(delegate.backend())) {
            state(delegate, "value");
            state(delegate, "other");
            BulkTarget first = load.state("value", VoidNamespaceSerializer.INSTANCE);

            assertThat(load.state("value", VoidNamespaceSerializer.INSTANCE)).isSameAs(first);
            assertThat(load.state("other", VoidNamespaceSerializer.INSTANCE)).isNotSameAs(first);
        }
    }

    private static <K> ValueState<byte[]> state(Delegate<K> delegate, String name)
            throws Exception {
        return delegate.backend()
                .getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>(name, BytePrimitiveArraySerializer.INSTANCE));
    }

    private static boolean compactsAutomatically(Delegate<?> delegate) throws Exception {
        ColumnFamilyHandle handle =
                (ColumnFamilyHandle) RocksDbInternals.columnFamily(delegate.backend(), "value");
        try (ColumnFamilyOptions options = handle.getDescriptor().getOptions()) {
            return !options.disableAutoCompactions();
        }
    }

    private static LogRecord put(Delegate<Integer> delegate, int key) throws Exception {
        delegate.backend().setCurrentKey(key);
        byte[] recordKey = bytes(IntSerializer.INSTANCE, key, VoidNamespace.INSTANCE);
        DataOutputSerializer record = new DataOutputSerializer(VALUE_BYTES + 100);
        byte[] header = new byte[RecordFormat.headerLength(1, recordKey.length, recordKey.length)];
        RecordFormat.writeHeader(header, 0, RecordKind.PUT, 1, recordKey.length, recordKey.length);
        record.write(header);
        record.write(recordKey);
        BytePrimitiveArraySerializer.INSTANCE.serialize(value(key), record);
        LogRecord put = new LogRecord();
        put.wrap(
                delegate.backend().getCurrentKeyGroupIndex(),
                record.getCopyOfBuffer(),
                0,
                record.length());
        return put;
    }

    private static <K> byte[] bytes(TypeSerializer<K> keys, K key, VoidNamespace namespace)
            throws Exception {
        DataOutputSerializer recordKey = new DataOutputSerializer(32);
        keys.serialize(key, recordKey);
        VoidNamespaceSerializer.INSTANCE.serialize(namespace, recordKey);
        return recordKey.getCopyOfBuffer();
    }

    private static byte[] value(int key) {
        return ByteBuffer.allocate(VALUE_BYTES).putInt(key).array();
    }
}
