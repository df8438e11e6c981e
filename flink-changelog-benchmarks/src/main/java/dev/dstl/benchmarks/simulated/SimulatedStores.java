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

package dev.dstl.benchmarks.simulated;

import dev.dstl.benchmarks.simulated.content.InMemoryContent;
import dev.dstl.benchmarks.simulated.store.LocalOutageSwitch;
import dev.dstl.benchmarks.simulated.store.RequestCounters;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;

/**
 * The stores of this process by authority. Kept here and not in the file systems, because Flink
 * drops its file systems whenever it is configured anew. Thread-safe.
 */
public final class SimulatedStores {

    private static final Map<String, SimulatedObjectStore> REGISTERED = new HashMap<>();
    private static final Map<String, Configured> CONFIGURED = new HashMap<>();

    private SimulatedStores() {}

    /** Creates a store in the memory of this process, without registering it. */
    public static SimulatedObjectStore inMemory(StoreProfile profile, StoreTime time) {
        return new SimulatedObjectStore(
                new InMemoryContent(),
                profile,
                time,
                new LocalOutageSwitch(),
                RequestCounters.inMemory());
    }

    /**
     * Creates a file system over {@code store} for {@code sim://<authority>/}, without registering
     * it.
     */
    public static SimulatedFileSystem fileSystem(String authority, SimulatedObjectStore store) {
        return new SimulatedFileSystem(SimulatedFileSystemFactory.uri(authority), store);
    }

    /**
     * Registers a store for {@code sim://<authority>/} in this process, whatever the configuration
     * says. Use a different authority in each test, since Flink may keep the file system of an
     * earlier one.
     *
     * @throws IllegalStateException if a store is registered for the authority
     */
    public static void register(String authority, SimulatedObjectStore store) {
        synchronized (REGISTERED) {
            if (REGISTERED.containsKey(authority) || CONFIGURED.containsKey(authority)) {
                throw new IllegalStateException(
                        "sim://"
                                + authority
                                + "/ exists already in this process; choose another"
                                + " authority or unregister it first");
            }
            REGISTERED.put(authority, store);
        }
    }

    /** Unregisters a store; file systems that use it keep it. */
    public static void unregister(String authority) {
        synchronized (REGISTERED) {
            REGISTERED.remove(authority);
            CONFIGURED.remove(authority);
        }
    }

    /**
     * Returns the store of an authority: the registered one, or else the one that its keys
     * describe.
     *
     * @throws IOException if the store exists with other keys
     */
    static SimulatedObjectStore of(String authority, Configuration configuration)
            throws IOException {
        synchronized (REGISTERED) {
            SimulatedObjectStore registered = REGISTERED.get(authority);
            if (registered != null) {
                return registered;
            }
            Configuration keys = SimulatedStoreOptions.of(configuration, authority);
            Configured configured = CONFIGURED.get(authority);
            if (configured == null) {
                configured = new Configured(keys.toMap(), create(authority, keys));
                CONFIGURED.put(authority, configured);
            } else if (!configured.keys.equals(keys.toMap())) {
                throw new IOException(
                        "sim://"
                                + authority
                                + "/ exists in this process with the keys "
                                + configured.keys
                                + " and is now requested with "
                                + keys
                                + "; choose another authority or unregister it first");
            }
            return configured.store;
        }
    }

    private static SimulatedObjectStore create(String authority, Configuration keys)
            throws IOException {
        StoreProfile profile = SimulatedStoreOptions.profile(keys);
        Optional<String> root = keys.getOptional(SimulatedStoreOptions.DIRECTORY);
        if (root.isEmpty()) {
            return inMemory(profile, StoreTime.SYSTEM);
        }
        StoreDirectory directory = new StoreDirectory(Paths.get(root.get()), authority);
        return new SimulatedObjectStore(
                directory.content(),
                profile,
                StoreTime.SYSTEM,
                directory.outage(),
                directory.countersOfThisProcess());
    }

    private static final class Configured {

        private final Map<String, String> keys;
        private final SimulatedObjectStore store;

        private Configured(Map<String, String> keys, SimulatedObjectStore store) {
            this.keys = keys;
            this.store = store;
        }
    }
}
