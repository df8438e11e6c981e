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

package dev.dstl.benchmarks.cost;

import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.QueuedMailbox;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.TaskManagerJobMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * Flink's built-in changelog storage, from its own jar, with default options but for one: a file is
 * written when the last changelog of a checkpoint persists instead of 10 ms after the first, so
 * that the result does not depend on the machine. This is what happens when all barriers arrive
 * within 10 ms.
 */
final class BuiltInChangelogs implements SimulatedChangelogs {

    private static final long PATIENCE_SECONDS = 30;

    private final FaultyStore store = FaultyStore.create();
    private final URLClassLoader jar;
    private final StateChangelogStorage<ChangelogStateHandleStreamImpl> storage;
    private final QueuedMailbox mailbox = new QueuedMailbox();
    private final List<StateChangelogWriter<ChangelogStateHandleStreamImpl>> writers =
            new ArrayList<>();

    BuiltInChangelogs(CostWorkload workload, Path jars) throws Exception {
        jar = new URLClassLoader(urls(jars), getClass().getClassLoader());
        int bytes =
                workload.changelogs() * workload.changesPerCheckpoint() * CostWorkload.CHANGE_BYTES;
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-path", store.basePath().toString());
        configuration.setString("state.changelog.dstl.dfs.batch.persist-delay", "1 d");
        configuration.setString(
                "state.changelog.dstl.dfs.batch.persist-size-threshold", bytes + " b");
        storage = open(configuration);
        for (int i = 0; i < workload.changelogs(); i++) {
            writers.add(
                    storage.createWriter(
                            "operator-" + i,
                            KeyGroupRange.of(0, SimulatedTaskManager.KEY_GROUPS - 1),
                            mailbox));
        }
    }

    private static URL[] urls(Path jars) throws Exception {
        File[] files = jars.toFile().listFiles((directory, name) -> name.endsWith(".jar"));
        if (files == null || files.length == 0) {
            throw new IllegalStateException(
                    "Flink's built-in changelog is not in " + jars + ": let Maven run the test.");
        }
        URL[] urls = new URL[files.length];
        for (int i = 0; i < files.length; i++) {
            urls[i] = files[i].toURI().toURL();
        }
        return urls;
    }

    @SuppressWarnings("unchecked") // it says so itself
    private StateChangelogStorage<ChangelogStateHandleStreamImpl> open(Configuration configuration)
            throws Exception {
        return (StateChangelogStorage<ChangelogStateHandleStreamImpl>)
                jar.loadClass("org.apache.flink.changelog.fs.FsStateChangelogStorage")
                        .getConstructor(
                                JobID.class,
                                Configuration.class,
                                TaskManagerJobMetricGroup.class,
                                LocalRecoveryConfig.class)
                        .newInstance(
                                DstlChangelogs.JOB_ID,
                                configuration,
                                UnregisteredMetricGroups
                                        .createUnregisteredTaskManagerJobMetricGroup(),
                                LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
    }

    @Override
    public FaultyStore store() {
        return store;
    }

    @Override
    public StateChangelogWriter<ChangelogStateHandleStreamImpl> writer(int changelog) {
        return writers.get(changelog);
    }

    @Override
    public void append(int changelog, int keyGroup, byte[] change) throws Exception {
        // It keeps the array.
        writer(changelog).append(keyGroup, change.clone());
    }

    @Override
    public SequenceNumber materialize(int changelog) {
        return writer(changelog).nextSequenceNumber();
    }

    /** Nothing in it depends on time. */
    @Override
    public void pass(long millis) {}

    @Override
    public ChangelogStateHandleStreamImpl await(
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!persist.isDone() && System.nanoTime() < deadline) {
            if (!mailbox.tryYield()) {
                TimeUnit.MICROSECONDS.sleep(50);
            }
        }
        return persist.get(0, TimeUnit.SECONDS).getJobManagerOwnedSnapshot();
    }

    @Override
    public void close() throws IOException {
        writers.forEach(StateChangelogWriter::close);
        try {
            storage.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            throw new IOException("Flink's changelog storage did not close", e);
        }
        jar.close();
        store.close();
    }
}
