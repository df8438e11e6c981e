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

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.util.ResourceGuard;

/**
 * Reads private fields of Flink's RocksDB backend that have no accessors. Compiled without that
 * backend, which may not be installed. Used by the task thread; stateless.
 */
final class RocksDbInternals {

    /** Class names in Flink 1.x and Flink 2.x. */
    private static final Set<String> BACKENDS =
            Set.of(
                    "org.apache.flink.contrib.streaming.state.RocksDBKeyedStateBackend",
                    "org.apache.flink.state.rocksdb.RocksDBKeyedStateBackend");

    private RocksDbInternals() {}

    /** Returns whether {@code delegate} is Flink's RocksDB backend, not a subclass. */
    static boolean isRocksDb(AbstractKeyedStateBackend<?> delegate) {
        return BACKENDS.contains(delegate.getClass().getName());
    }

    /**
     * Returns the states that were registered with a RocksDB backend, by name.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static Map<?, ?> createdStates(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return (Map<?, ?>) read(delegate, "createdKVStates");
    }

    /**
     * Returns the database.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static Object database(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return read(delegate, "db");
    }

    /**
     * Returns the number of bytes of each key that hold the key group.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static int keyGroupBytes(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return (Integer) read(delegate, "keyGroupPrefixBytes");
    }

    /**
     * Returns the column family of a state or queue, null if RocksDB does not store it.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static Object columnFamily(AbstractKeyedStateBackend<?> delegate, String name)
            throws ReflectiveOperationException {
        Object state = ((Map<?, ?>) read(delegate, "kvStateInformation")).get(name);
        return state == null ? null : read(state, "columnFamilyHandle");
    }

    /**
     * Returns the column families of all states and queues.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static List<Object> columnFamilies(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        List<Object> columnFamilies = new ArrayList<>();
        for (Object state : ((Map<?, ?>) read(delegate, "kvStateInformation")).values()) {
            columnFamilies.add(read(state, "columnFamilyHandle"));
        }
        return columnFamilies;
    }

    /**
     * Returns the guard that keeps the database open for other threads.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static ResourceGuard databaseGuard(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return (ResourceGuard) read(delegate, "rocksDBResourceGuard");
    }

    private static Object read(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }
}
