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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The model: applies records to state in the simplest possible way. A value is represented by the
 * hash of its bytes, a list by those of its elements in order; opaque records are a list per key
 * group.
 */
final class KeyedState {

    private static final long FIRST = 17;
    private static final int BYTES_PER_VALUE = 30;

    private final NavigableMap<String, Long> values;

    KeyedState() {
        this(new TreeMap<>());
    }

    private KeyedState(NavigableMap<String, Long> values) {
        this.values = values;
    }

    KeyedState copy() {
        return new KeyedState(new TreeMap<>(values));
    }

    /** Approximate size of a snapshot. */
    long sizeBytes() {
        return (long) values.size() * BYTES_PER_VALUE;
    }

    /** Returns the state of some key groups. */
    KeyedState in(KeyGroupRange keyGroups) {
        KeyedState part = new KeyedState();
        for (Map.Entry<String, Long> value : values.entrySet()) {
            if (keyGroups.contains(value.getKey().charAt(0))) {
                part.values.put(value.getKey(), value.getValue());
            }
        }
        return part;
    }

    void addAll(KeyedState other) {
        values.putAll(other.values);
    }

    /** Applies a record; one without key group has no effect. */
    void apply(TestRecord record) {
        if (record.keyGroup < 0) {
            return;
        }
        String prefix = prefix(record);
        String name = prefix + record.recordKey().substring(record.keyPrefixLength);
        switch (record.kind) {
            case PUT:
                values.put(name, added(FIRST, record));
                break;
            case DELETE:
                values.remove(name);
                break;
            case APPEND:
            case OPAQUE:
                values.merge(name, added(FIRST, record), (list, one) -> added(list, record));
                break;
            case DELETE_PREFIX:
                values.subMap(prefix, prefix + Character.MAX_VALUE).clear();
                break;
            default:
                throw new IllegalArgumentException(record.toString());
        }
    }

    private static String prefix(TestRecord record) {
        char state = record.kind == RecordKind.OPAQUE ? 'o' : (char) ('0' + record.stateId);
        return (char) record.keyGroup + "" + state + "/" + record.prefix() + "/";
    }

    private static long added(long list, TestRecord record) {
        CRC32 checksum = new CRC32();
        checksum.update(record.payload);
        return 31 * list + checksum.getValue();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyedState && values.equals(((KeyedState) other).values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    /** Describes the differences between two states. */
    String differenceTo(KeyedState other) {
        StringBuilder text = new StringBuilder();
        TreeMap<String, Long> all = new TreeMap<>(values);
        all.putAll(other.values);
        for (String name : all.keySet()) {
            Long mine = values.get(name);
            Long others = other.values.get(name);
            if (mine == null || !mine.equals(others)) {
                text.append(" [group ").append((int) name.charAt(0)).append(' ');
                text.append(name.substring(1)).append(": ").append(mine);
                text.append(" against ").append(others).append(']');
            }
        }
        return text.toString();
    }
}
