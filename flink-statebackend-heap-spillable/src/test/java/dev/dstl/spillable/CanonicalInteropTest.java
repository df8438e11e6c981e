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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.Collections;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.junit.jupiter.api.Test;

/** Canonical savepoints go from spilled state to RocksDB and back. */
class CanonicalInteropTest {

    private static final int KEYS = 200;

    private static AbstractKeyedStateBackend<String> open(
            StateBackend backend, Collection<KeyedStateHandle> handles) throws Exception {
        return KeyedBackends.create(
                backend, StringSerializer.INSTANCE, 16, new KeyGroupRange(0, 15), handles);
    }

    @Test
    void spilledToRocksDbAndBack_nothingIsLost() throws Exception {
        AbstractKeyedStateBackend<String> spilled =
                open(PlacedBackends.spilled(new Configuration()), Collections.emptyList());
        ValueState<Long> value = NamedStates.value(spilled);
        ListState<String> list = NamedStates.list(spilled);
        MapState<String, Long> map = NamedStates.map(spilled);
        for (int i = 0; i < KEYS; i++) {
            spilled.setCurrentKey("key " + i);
            value.update((long) i);
            for (int j = 0; j <= i; j++) {
                list.add("element " + j);
                map.put("user key " + j, (long) j);
            }
        }
        Collection<KeyedStateHandle> first =
                KeyedBackends.handles(KeyedBackends.savepoint(spilled, 1));
        spilled.dispose();

        AbstractKeyedStateBackend<String> rocksDb = open(new EmbeddedRocksDBStateBackend(), first);
        verify(rocksDb);
        Collection<KeyedStateHandle> second =
                KeyedBackends.handles(KeyedBackends.savepoint(rocksDb, 2));
        rocksDb.dispose();

        AbstractKeyedStateBackend<String> again =
                open(PlacedBackends.spilled(new Configuration()), second);
        verify(again);
        again.dispose();
    }

    private static void verify(AbstractKeyedStateBackend<String> backend) throws Exception {
        ValueState<Long> value = NamedStates.value(backend);
        ListState<String> list = NamedStates.list(backend);
        MapState<String, Long> map = NamedStates.map(backend);
        for (int i = 0; i < KEYS; i++) {
            backend.setCurrentKey("key " + i);
            assertThat(value.value()).isEqualTo(i);
            assertThat(list.get()).hasSize(i + 1).contains("element " + i);
            assertThat(map.keys()).hasSize(i + 1);
            assertThat(map.get("user key " + i)).isEqualTo(i);
        }
    }
}
