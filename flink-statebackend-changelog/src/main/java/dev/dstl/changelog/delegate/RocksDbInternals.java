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
 * Reads the private fields of Flink's RocksDB backend, where it has no accessors. Compiled without
 * that backend, which may not be installed. Belongs to the task thread; stateless.
 */
final class RocksDbInternals {

    /** In Flink 1.x and in Flink 2.x. */
    private static final Set<String> BACKENDS =
            Set.of(
                    "org.apache.flink.contrib.streaming.state.RocksDBKeyedStateBackend",
                    "org.apache.flink.state.rocksdb.RocksDBKeyedStateBackend");

    private RocksDbInternals() {}

    /** Whether {@code delegate} is Flink's RocksDB backend, none derived from it. */
    static boolean isRocksDb(AbstractKeyedStateBackend<?> delegate) {
        return BACKENDS.contains(delegate.getClass().getName());
    }

    /**
     * The states that were registered with a RocksDB backend, by name.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static Map<?, ?> createdStates(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return (Map<?, ?>) read(delegate, "createdKVStates");
    }

    /**
     * The database itself.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static Object database(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return read(delegate, "db");
    }

    /**
     * How many bytes of each key hold the key group.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static int keyGroupBytes(AbstractKeyedStateBackend<?> delegate)
            throws ReflectiveOperationException {
        return (Integer) read(delegate, "keyGroupPrefixBytes");
    }

    /**
     * The column family of a state or queue, null if RocksDB does not hold it.
     *
     * @throws ReflectiveOperationException if this version of Flink has no such field
     */
    static Object columnFamily(AbstractKeyedStateBackend<?> delegate, String name)
            throws ReflectiveOperationException {
        Object state = ((Map<?, ?>) read(delegate, "kvStateInformation")).get(name);
        return state == null ? null : read(state, "columnFamilyHandle");
    }

    /**
     * The column families of all states and queues.
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
     * Keeps the database open for those who use it on other threads.
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
