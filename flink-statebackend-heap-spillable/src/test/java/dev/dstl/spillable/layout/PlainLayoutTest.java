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

package dev.dstl.spillable.layout;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.overlay.PartitionedMapFixture;
import dev.dstl.spillable.overlay.SpilledView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

/** A state in one entry, and the selection of entries, which all layouts share. */
class PlainLayoutTest extends PartitionedMapFixture {

    private final PlainLayout<String, Integer, String> layout =
            new PlainLayout<>(
                    StringSerializer.INSTANCE, IntSerializer.INSTANCE, StringSerializer.INSTANCE);

    private void write(String key, int namespace, String state) throws IOException {
        layout.select(key, namespace);
        layout.write(map, state);
    }

    private String read(String key, int namespace) throws IOException {
        layout.select(key, namespace);
        return layout.read(map.entries());
    }

    @Test
    void randomChanges_leaveWhatAPlainMapHolds() throws IOException {
        Random random = new Random(21);
        Map<List<Object>, String> expected = new HashMap<>();
        for (int i = 0; i < 30_000; i++) {
            String key = "key " + random.nextInt(500);
            int namespace = random.nextInt(3);
            List<Object> identity = Arrays.asList(key, namespace);
            if (random.nextInt(5) == 0) {
                layout.select(key, namespace);
                assertThat(layout.exists(map.entries())).isEqualTo(expected.containsKey(identity));
                assertThat(layout.delete(map)).isEqualTo(expected.remove(identity) != null);
            } else {
                String state = "s".repeat(random.nextInt(i % 1000 == 0 ? 100_000 : 60));
                write(key, namespace, state);
                expected.put(identity, state);
            }
        }
        for (int key = 0; key < 500; key++) {
            for (int namespace = 0; namespace < 3; namespace++) {
                assertThat(read("key " + key, namespace))
                        .isEqualTo(expected.get(Arrays.<Object>asList("key " + key, namespace)));
            }
        }
    }

    @Test
    void aSelectionByAddress_givesTheKeyBack() throws IOException {
        write("one", 1, "first");
        write("two", 2, "second");
        List<String> found = new ArrayList<>();
        for (long address : Serialized.addresses(map.entries())) {
            layout.selectAt(map.entries(), address);
            String state = layout.read(map.entries());
            layout.readKey((key, namespace) -> found.add(key + namespace + state));
        }

        assertThat(found).containsExactlyInAnyOrder("one1first", "two2second");
    }

    @Test
    void aSelectionByBytes_outlivesChanges() throws IOException {
        write("one", 1, "first");
        layout.select("one", 1);
        layout.exists(map.entries());
        byte[] key = map.entries().copyKey();
        write("other", 1, "other");

        layout.selectBytes(key);

        assertThat(layout.read(map.entries())).isEqualTo("first");
    }

    @Test
    void withinOneEpoch_aKeyIsSerializedOnce() throws IOException {
        write("one", 1, "first");
        write("two", 1, "second");
        Integer namespace = 1;

        layout.select("one", namespace, 5);
        layout.select("two", namespace, 5);
        assertThat(layout.read(map.entries())).as("not selected anew").isEqualTo("first");
        layout.select("two", namespace, 6);
        assertThat(layout.read(map.entries())).isEqualTo("second");
    }

    @Test
    void anotherNamespaceOrSelection_endsWhatAnEpochRemembers() throws IOException {
        write("one", 1, "first");
        write("one", 2, "second");
        layout.select("one", 1, 5);
        layout.select("one", 2, 5);
        assertThat(layout.read(map.entries())).isEqualTo("second");

        Integer namespace = 1;
        layout.select("one", namespace, 5);
        layout.select("other", 9);
        layout.select("one", namespace, 5);
        assertThat(layout.read(map.entries())).isEqualTo("first");
    }

    @Test
    void withoutAnEpoch_everySelectionCounts() throws IOException {
        write("one", 1, "first");
        write("two", 1, "second");
        Integer namespace = 1;

        layout.select("one", namespace, SpilledLayout.NO_EPOCH);
        layout.select("two", namespace, SpilledLayout.NO_EPOCH);

        assertThat(layout.read(map.entries())).isEqualTo("second");
    }

    @Test
    void aDuplicate_readsTheSameEntriesWithASelectionOfItsOwn() throws IOException {
        write("one", 1, "first");
        write("two", 1, "second");
        PlainLayout<String, Integer, String> duplicate = layout.duplicate();
        layout.select("one", 1);
        duplicate.select("two", 1);

        assertThat(layout.read(map.entries())).isEqualTo("first");
        assertThat(duplicate.read(map.entries())).isEqualTo("second");
    }

    @Test
    void whatASnapshotGets_isWhatTheSerializersWrite() throws IOException {
        write("key", 4, "state");
        DataOutputSerializer expected = new DataOutputSerializer(64);
        IntSerializer.INSTANCE.serialize(4, expected);
        StringSerializer.INSTANCE.serialize("key", expected);
        StringSerializer.INSTANCE.serialize("state", expected);

        try (SpilledView view = map.view()) {
            assertThat(Serialized.onlyEntry(layout, view)).isEqualTo(expected.getCopyOfBuffer());
        }
    }

    @Test
    void theKindOfStateAndItsSerializer_chooseTheLayout() {
        assertThat(layoutOf(StateDescriptor.Type.VALUE)).isInstanceOf(PlainLayout.class);
        assertThat(layoutOf(StateDescriptor.Type.REDUCING)).isInstanceOf(PlainLayout.class);
        assertThat(layoutOf(StateDescriptor.Type.LIST))
                .as("a list whose serializer is not a list's")
                .isInstanceOf(PlainLayout.class);
        assertThat(
                        SpilledLayouts.of(
                                StateDescriptor.Type.LIST,
                                StringSerializer.INSTANCE,
                                IntSerializer.INSTANCE,
                                new ListSerializer<>(StringSerializer.INSTANCE)))
                .isInstanceOf(ListLayout.class);
        assertThat(
                        SpilledLayouts.of(
                                StateDescriptor.Type.MAP,
                                StringSerializer.INSTANCE,
                                IntSerializer.INSTANCE,
                                new MapSerializer<>(
                                        StringSerializer.INSTANCE, StringSerializer.INSTANCE)))
                .isInstanceOf(MapLayout.class);
    }

    private static SpilledLayout<String, Integer, String> layoutOf(StateDescriptor.Type type) {
        return SpilledLayouts.of(
                type, StringSerializer.INSTANCE, IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    }

    @Test
    void lists_areWrittenWholeWhereTheyLieInOneEntry() throws IOException {
        SpilledLayout<String, Integer, List<String>> plain =
                new PlainLayout<>(
                        StringSerializer.INSTANCE,
                        IntSerializer.INSTANCE,
                        new ListSerializer<>(StringSerializer.INSTANCE));
        plain.select("key", 1);
        plain.write(map, Collections.nCopies(1000, "element"));

        assertThat(plain.read(map.entries())).hasSize(1000);
        assertThat(map.size()).isEqualTo(1);
    }
}
