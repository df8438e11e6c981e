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

package dev.dstl.benchmarks.log;

import dev.dstl.benchmarks.simulated.SimulatedStores;
import dev.dstl.benchmarks.simulated.content.LengthOnlyContent;
import dev.dstl.benchmarks.simulated.store.LocalOutageSwitch;
import dev.dstl.benchmarks.simulated.store.RequestCounters;
import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import java.io.IOException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;

/**
 * The changelog storage of one job on one TaskManager, with the default configuration, on a
 * simulated store. Owns the storage and the store.
 */
final class LogStorage implements AutoCloseable {

    private static final KeyGroupRange ALL_KEY_GROUPS =
            KeyGroupRange.of(0, RecordSource.KEY_GROUPS - 1);

    private final MeasuredLog log;
    private final StateChangelogStorage<?> storage;
    private final SimulatedObjectStore store;
    private final String authority;

    /** Opens a changelog on a store of its own. */
    LogStorage(MeasuredLog log, StoreProfile profile) throws IOException {
        this.log = log;
        this.authority = "log-" + UUID.randomUUID();
        this.store =
                new SimulatedObjectStore(
                        new LengthOnlyContent(),
                        profile,
                        StoreTime.SYSTEM,
                        new LocalOutageSwitch(),
                        RequestCounters.inMemory());
        SimulatedStores.register(authority, store);
        Configuration configuration = new Configuration();
        configuration.setString(
                "state.changelog.dstl.dfs.base-path", "sim://" + authority + "/changelog");
        this.storage =
                log.factory()
                        .createStorage(
                                new JobID(),
                                configuration,
                                UnregisteredMetricGroups
                                        .createUnregisteredTaskManagerJobMetricGroup(),
                                LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
    }

    /** Opens the changelog of one more task; {@code mailbox} is that of the calling thread. */
    MeasuredTask openTask(TaskMailbox mailbox, long seed) {
        var writer = storage.createWriter("operator-" + seed, ALL_KEY_GROUPS, mailbox);
        return new MeasuredTask(new RecordSource(seed), mailbox, writer, log.appender(writer));
    }

    /** Returns a future that is done while tasks may append. */
    CompletableFuture<?> availableFuture() {
        return storage.getAvailabilityProvider().getAvailableFuture();
    }

    /** Requests to the store so far. */
    RequestCounts counts() {
        return store.counts();
    }

    @Override
    public void close() throws IOException {
        SimulatedStores.unregister(authority);
        try {
            storage.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            throw new IOException("The log did not close", e);
        }
    }
}
