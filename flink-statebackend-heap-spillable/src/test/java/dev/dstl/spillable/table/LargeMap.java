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

package dev.dstl.spillable.table;

import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.partition.StateIdentity;
import dev.dstl.spillable.size.EntrySizes;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;

/** A large map in a key group of its own, and what is expected to be in it. */
final class LargeMap {

    /** A size that takes many slices to move. */
    static final int SIZE = 5000;

    private final MapSerializer<Integer, String> serializer =
            new MapSerializer<>(IntSerializer.INSTANCE, StringSerializer.INSTANCE);
    final MapLayout<Integer, Integer, Integer, String> layout =
            new MapLayout<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE, serializer);
    final KeyGroupMap<Integer, Integer, Map<Integer, String>> group = group(serializer);
    final Map<Integer, String> expected = new HashMap<>();

    /** An empty key group. */
    static <S> KeyGroupMap<Integer, Integer, S> group(TypeSerializer<S> serializer) {
        return new KeyGroupMap<>(serializer, new StateIdentity(0, "state", 0), new EntrySizes());
    }

    /** Puts a new map in place of the one before. */
    void put(int size) throws IOException {
        Map<Integer, String> map = new HashMap<>();
        for (int i = 0; i < size; i++) {
            map.put(i, "value " + i);
        }
        expected.clear();
        expected.putAll(map);
        layout.select(1, 0);
        group.put(1, 0, map, layout);
    }

    /** Sets a user entry as a state object does, or removes it if the value is null. */
    void change(int userKey, String value) throws IOException {
        layout.select(1, 0);
        Map<Integer, String> map = group.heapState(1, 0);
        if (map != null) {
            if (value == null) {
                map.remove(userKey);
            } else {
                map.put(userKey, value);
            }
        } else {
            PartitionedMap spilled = group.spilledHome(layout);
            if (value == null) {
                layout.remove(spilled, userKey);
            } else {
                layout.put(spilled, userKey, value);
            }
        }
        group.userKeyChanged(1, 0, userKey);
        if (value == null) {
            expected.remove(userKey);
        } else {
            expected.put(userKey, value);
        }
    }

    /** Sets as many user entries, others after each slice. */
    void change(int slice, int changes) throws IOException {
        for (int i = 0; i < changes; i++) {
            change((slice * 37 + i) % SIZE, "changed after slice " + slice);
        }
    }

    /** Returns what is in the map, null if there is none. */
    @Nullable
    Map<Integer, String> contents() throws IOException {
        layout.select(1, 0);
        return group.get(1, 0, layout);
    }

    /** Spills what is left to spill. */
    void spillAll() throws IOException {
        spillAll(group, layout);
    }

    static <S> void spillAll(
            KeyGroupMap<Integer, Integer, S> group, SpilledLayout<Integer, Integer, S> layout)
            throws IOException {
        while (group.residency() == Residency.SPILLING) {
            group.spill(1, layout);
        }
    }

    /** Loads what is left to load; returns the number of slices. */
    int loadAll() throws IOException {
        int slices = 0;
        while (group.residency() == Residency.LOADING) {
            group.load(1, Double.MAX_VALUE, layout);
            slices++;
        }
        return slices;
    }

    void close() {
        group.close();
    }
}
