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

import dev.dstl.spillable.overlay.EntryReader;
import dev.dstl.spillable.overlay.SpilledView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Entries as a snapshot gets them. */
final class Serialized {

    private Serialized() {}

    /** The only entry of a view as bytes: namespace, key and state. */
    static byte[] onlyEntry(SpilledLayout<?, ?, ?> layout, SpilledView view) throws IOException {
        List<Long> addresses = new ArrayList<>();
        view.forEachAsItLies(addresses::add);
        if (addresses.size() != 1) {
            throw new IllegalStateException("The view has " + addresses.size() + " entries");
        }
        DataOutputSerializer out = new DataOutputSerializer(64);
        layout.copyEntry(view.entries(), addresses.get(0), out);
        return out.getCopyOfBuffer();
    }

    /** The states of a view by key, from the bytes that a snapshot gets; of namespace 0 alone. */
    static <S> Map<Integer, S> states(
            SpilledLayout<Integer, Long, ?> layout, SpilledView view, TypeSerializer<S> states)
            throws IOException {
        Map<Integer, S> found = new HashMap<>();
        for (long address : addresses(view.entries())) {
            DataOutputSerializer out = new DataOutputSerializer(64);
            layout.copyEntry(view.entries(), address, out);
            DataInputDeserializer in = input(out.getCopyOfBuffer());
            assertThat(LongSerializer.INSTANCE.deserialize(in)).isZero();
            found.put(IntSerializer.INSTANCE.deserialize(in), states.deserialize(in));
            assertThat(in.available()).as("bytes behind the state").isZero();
        }
        return found;
    }

    /** The addresses of all entries, in the order of the index. */
    static List<Long> addresses(EntryReader entries) {
        List<Long> addresses = new ArrayList<>();
        for (int cursor = 0; cursor < entries.cursorEnd(); cursor++) {
            entries.addressesAt(cursor, addresses::add);
        }
        return addresses;
    }

    static DataInputDeserializer input(byte[] bytes) {
        return new DataInputDeserializer(bytes);
    }
}
