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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.replay.LogReplayer;
import dev.dstl.log.record.RecordCursor;
import java.nio.file.Paths;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores a delegate: the base first, then the logs on top. Belongs to the task thread; cancelling
 * the task closes what is being read. What was opened is closed if anything fails.
 *
 * @param <K> type of the key
 */
public final class RestoreOperation<K> {

    private static final Logger LOG = LoggerFactory.getLogger(RestoreOperation.class);

    private final Environment environment;
    private final CloseableRegistry cancelRegistry;
    private final DelegateFactory<K> delegates;

    /**
     * @param environment of the task
     * @param cancelRegistry closed when the task is cancelled
     * @param delegates creates a delegate from snapshots
     */
    public RestoreOperation(
            Environment environment,
            CloseableRegistry cancelRegistry,
            DelegateFactory<K> delegates) {
        this.environment = environment;
        this.cancelRegistry = cancelRegistry;
        this.delegates =
                (keyGroups, snapshots) ->
                        delegates.create(keyGroups, BufferedSnapshots.of(snapshots));
    }

    /**
     * Restores.
     *
     * @param keyGroups of the task
     * @param restored snapshots and logs
     * @param snapshots those of {@code restored} as the delegate shall know them
     * @return owned by the caller
     * @throws Exception if anything cannot be restored; nothing is left open then
     */
    public AbstractKeyedStateBackend<K> restore(
            KeyGroupRange keyGroups, RestoredHandles restored, List<KeyedStateHandle> snapshots)
            throws Exception {
        AbstractKeyedStateBackend<K> delegate =
                restored.basesOverlap()
                        ? restoreSeparately(keyGroups, restored)
                        : delegates.create(keyGroups, snapshots);
        List<ChangelogStateHandle> logs = restored.logs();
        try {
            replay(logs, delegate);
            return delegate;
        } catch (Throwable t) {
            IOUtils.closeQuietly(delegate);
            delegate.dispose();
            throw t;
        }
    }

    private AbstractKeyedStateBackend<K> restoreSeparately(
            KeyGroupRange keyGroups, RestoredHandles restored) throws Exception {
        LOG.info(
                "The bases of {} overlap after changes of parallelism and are separated first",
                environment.getTaskInfo().getTaskNameWithSubtasks());
        try (OverlappingBases<K> bases =
                new OverlappingBases<>(
                        Paths.get(environment.getTaskManagerInfo().getTmpDirectories()[0]),
                        delegates,
                        cancelRegistry)) {
            return delegates.create(keyGroups, bases.cut(restored.bases()));
        }
    }

    private void replay(List<ChangelogStateHandle> logs, AbstractKeyedStateBackend<K> delegate)
            throws Exception {
        if (logs.isEmpty()) {
            return;
        }
        LogReplayer<K> replayer =
                new LogReplayer<>(delegate, environment.getUserCodeClassLoader().asClassLoader());
        long startNanos = System.nanoTime();
        try (LogReaders readers =
                new LogReaders(
                        environment.getTaskStateManager(),
                        environment.getTaskManagerInfo().getConfiguration())) {
            for (ChangelogStateHandle log : logs) {
                RecordCursor cursor = new InterruptibleCursor(readers.open(log));
                try {
                    cancelRegistry.registerCloseable(cursor);
                    replayer.replay(cursor, log.getKeyGroupRange());
                } finally {
                    cancelRegistry.unregisterCloseable(cursor);
                    IOUtils.closeQuietly(cursor);
                }
            }
        }
        LOG.info(
                "Replayed {} logs of {} in {} ms",
                logs.size(),
                environment.getTaskInfo().getTaskNameWithSubtasks(),
                (System.nanoTime() - startNanos) / 1_000_000);
    }
}
