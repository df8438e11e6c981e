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

import dev.dstl.spillable.layout.CountingSerializer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whoever goes through all keys holds those of one key group at a time: all may be too many. */
class AllKeysTest {

    private static final int KEYS = 4_000;
    private static final int KEY_GROUPS = 40;

    /** More than any key group has, and much less than there are. */
    private static final int MANY = KEYS / 10;

    private final ValueStateDescriptor<String> first =
            new ValueStateDescriptor<>("first", Types.STRING);
    private final ValueStateDescriptor<String> second =
            new ValueStateDescriptor<>("second", Types.STRING);
    private AbstractKeyedStateBackend<Integer> backend;
    private int mostHeld;

    @BeforeEach
    void fill() throws Exception {
        backend =
                KeyedBackends.create(
                        PlacedBackends.spilled(new Configuration()),
                        new CountingSerializer(),
                        KEY_GROUPS,
                        new KeyGroupRange(0, KEY_GROUPS - 1),
                        Collections.emptyList());
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            if (key % 3 > 0) {
                state(first).update("first of " + key);
            }
            if (key % 3 < 2) {
                state(second).update("second of " + key);
            }
        }
        CountingSerializer.reset();
    }

    @AfterEach
    void dispose() {
        backend.dispose();
    }

    private ValueState<String> state(ValueStateDescriptor<String> descriptor) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, descriptor);
    }

    @Test
    void functionThatChangesEachKey_meetsEachOnce() throws Exception {
        List<Integer> met = new ArrayList<>();
        backend.applyToAllKeys(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                first,
                (key, state) -> {
                    met.add(key);
                    mostHeld = Math.max(mostHeld, CountingSerializer.deserialized() - met.size());
                    if (key % 2 == 0) {
                        state.clear();
                    } else {
                        state.update("a longer value than before of " + key);
                    }
                });

        assertThat(met)
                .hasSize((int) IntStream.range(0, KEYS).filter(key -> key % 3 > 0).count())
                .doesNotHaveDuplicates()
                .allMatch(key -> key % 3 > 0);
        assertThat(mostHeld).isBetween(1, MANY);
    }

    @Test
    void keysOfSeveralStates_areGivenOnce() {
        TreeSet<Integer> given = new TreeSet<>();
        Iterator<Integer> keys =
                backend.getKeys(Arrays.asList("first", "second"), VoidNamespace.INSTANCE)
                        .iterator();
        int count = 0;
        while (keys.hasNext()) {
            given.add(keys.next());
            count++;
            mostHeld = Math.max(mostHeld, CountingSerializer.deserialized() - count * 4 / 3);
        }

        assertThat(given).hasSize(KEYS);
        assertThat(count).isEqualTo(KEYS);
        assertThat(mostHeld).isBetween(1, 2 * MANY);
    }
}
