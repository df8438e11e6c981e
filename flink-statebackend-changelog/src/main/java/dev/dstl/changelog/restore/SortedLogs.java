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
import dev.dstl.changelog.sorting.ReplayOrder;
import dev.dstl.changelog.sorting.SortingCursor;
import dev.dstl.log.execution.DaemonThreads;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.StateMigrationException;

/**
 * The changelogs of a restore, which are read and sorted ahead on other threads, one changelog
 * after the other. Used by the task thread; any thread may close it, which ends the replay.
 */
final class SortedLogs implements Closeable {

    private static final int SORTERS = 2;

    /** For other tasks that start at the same time to end threads. */
    private static final long PAUSE_MILLIS = 1_000;

    private final List<ChangelogStateHandle> handles;
    private final List<SortingCursor> cursors = new ArrayList<>();

    private final ReplayReader reader =
            new ReplayReader(new DaemonThreads("changelog-replay-read"), PAUSE_MILLIS);

    private final ExecutorService sorters =
            Executors.newFixedThreadPool(SORTERS, new DaemonThreads("changelog-replay-sort"));

    /**
     * Starts reading.
     *
     * @param handles in the order of the checkpoint
     * @param keyGroups key groups of the task
     * @param order that the delegate takes
     * @param keepsOrder whether it takes the records of a state as they were written, by the
     *     payload of its registration
     * @param readers closed by the caller, after this object
     * @throws IOException if a changelog cannot be opened
     */
    SortedLogs(
            List<ChangelogStateHandle> handles,
            KeyGroupRange keyGroups,
            ReplayOrder order,
            Predicate<byte[]> keepsOrder,
            LogReaders readers)
            throws IOException {
        this.handles = handles;
        try {
            for (ChangelogStateHandle handle : handles) {
                SortingCursor cursor =
                        new SortingCursor(
                                readers.open(handle),
                                keyGroups.getIntersection(handle.getKeyGroupRange()),
                                order,
                                keepsOrder,
                                readers.memory(handle),
                                sorters);
                cursors.add(cursor);
                reader.read(cursor);
            }
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    int count() {
        return handles.size();
    }

    /** Returns the total size in the store in bytes. */
    long bytes() {
        return handles.stream().mapToLong(ChangelogStateHandle::getStateSize).sum();
    }

    /**
     * Returns whether each changelog knows its size, which Flink takes from them when it divides
     * them among other subtasks.
     */
    boolean knowAllBytes() {
        return handles.stream().allMatch(handle -> handle.getStateSize() > 0);
    }

    /**
     * Returns the size of the records of those changelogs that do not know theirs. Once all are
     * replayed.
     */
    long bytesOfUnknownSize() {
        long bytes = 0;
        for (int i = 0; i < handles.size(); i++) {
            bytes += handles.get(i).getStateSize() == 0 ? cursors.get(i).bytesRead() : 0;
        }
        return bytes;
    }

    /** Returns the number of records read so far. */
    long recordsRead() {
        return cursors.stream().mapToLong(SortingCursor::recordsRead).sum();
    }

    /** Replays all changelogs. */
    void replay(LogReplayer<?> replayer, RestoreProgress progress)
            throws IOException, StateMigrationException {
        reader.require();
        for (int i = 0; i < handles.size(); i++) {
            try (InterruptibleCursor cursor =
                    new InterruptibleCursor(
                            cursors.get(i), count -> progress.replayed(count, recordsRead()))) {
                replayer.replay(cursor, handles.get(i).getKeyGroupRange());
            }
        }
    }

    @Override
    public void close() {
        cursors.forEach(IOUtils::closeQuietly);
        reader.close();
        // Running sorts end soon and release their memory.
        sorters.shutdown();
    }
}
