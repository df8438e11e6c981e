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

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.FaultyStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.util.concurrent.Executors;

/**
 * One TaskManager of the job: its changelogs record changes, are persisted when barriers arrive,
 * within a few milliseconds, and are truncated after materializations, which are spread over the
 * interval. Flink's registry of shared state deletes what the latest checkpoint does not contain,
 * as on the JobManager.
 */
final class SimulatedTaskManager implements AutoCloseable {

    static final int KEY_GROUPS = 8;

    /** Time until a checkpoint is durable, on a store that answers at once. */
    private static final long PERSIST_MILLIS = 100;

    /** Number of portions in which state changes arrive between two checkpoints. */
    private static final int PORTIONS = 10;

    /** One in this many barriers is a millisecond later than the one before. */
    private static final int LATE_SHARE = 4;

    private final CostWorkload workload;
    private final SimulatedChangelogs changelogs;
    private final boolean deletes;
    private final int index;
    private final int count;
    private final Random random;
    private final byte[] change = new byte[CostWorkload.CHANGE_BYTES];
    private final SharedStateRegistryImpl registry =
            new SharedStateRegistryImpl(Executors.directExecutor());

    private final List<SequenceNumber> from = new ArrayList<>();
    private final List<SequenceNumber> confirmed = new ArrayList<>();
    private final List<SequenceNumber> truncated = new ArrayList<>();
    private final List<SequenceNumber> materialized = new ArrayList<>();
    private long checkpoint;

    /**
     * @param changelogs closed with this
     * @param deletes whether files are deleted that the latest checkpoint does not contain
     * @param index of this TaskManager, below {@code count}
     * @param count of TaskManagers that are simulated
     */
    SimulatedTaskManager(
            CostWorkload workload,
            SimulatedChangelogs changelogs,
            boolean deletes,
            int index,
            int count) {
        this.workload = workload;
        this.changelogs = changelogs;
        this.deletes = deletes;
        this.index = index;
        this.count = count;
        this.random = new Random(index);
        for (int i = 0; i < workload.changelogs(); i++) {
            SequenceNumber first = changelogs.writer(i).initialSequenceNumber();
            from.add(first);
            confirmed.add(first);
            truncated.add(first);
            materialized.add(first);
        }
        changelogs.pass(barrierPhaseMillis());
    }

    /**
     * Checkpoints do not begin when the age of batches is checked, but at any time between two
     * checks; these are spread evenly.
     */
    private long barrierPhaseMillis() {
        return DstlOptions.MAX_AGE.defaultValue().toMillis() * (2L * index + 1) / (2L * count);
    }

    FaultyStore store() {
        return changelogs.store();
    }

    /**
     * Time passes until the next checkpoint is complete.
     *
     * @return what it contains of each changelog, null for nothing
     */
    List<ChangelogStateHandleStreamImpl> checkpoint() throws Exception {
        checkpoint++;
        appendChanges();
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists = new ArrayList<>();
        List<SequenceNumber> to = new ArrayList<>();
        for (int i = 0; i < workload.changelogs(); i++) {
            if (random.nextInt(LATE_SHARE) == 0) {
                changelogs.pass(1);
            }
            persists.add(changelogs.writer(i).persist(from.get(i), checkpoint));
            to.add(changelogs.writer(i).nextSequenceNumber());
        }
        changelogs.pass(PERSIST_MILLIS);
        List<ChangelogStateHandleStreamImpl> handles = new ArrayList<>();
        for (Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist : persists) {
            handles.add(changelogs.await(persist));
        }
        complete(handles, to);
        return handles;
    }

    private void appendChanges() throws Exception {
        for (int portion = 0; portion < PORTIONS; portion++) {
            for (int i = 0; i < workload.changelogs(); i++) {
                for (int n = 0; n < workload.changesPerCheckpoint() / PORTIONS; n++) {
                    append(i);
                }
            }
            changelogs.pass((workload.intervalSeconds() * 1_000L - PERSIST_MILLIS) / PORTIONS);
        }
    }

    private void append(int changelog) throws Exception {
        int key = random.nextInt(CostWorkload.KEYS);
        random.nextBytes(change);
        for (int i = 0; i < CostWorkload.RECORD_KEY_BYTES; i++) {
            change[i] = (byte) (i < Integer.BYTES ? key >>> (Byte.SIZE * i) : 0);
        }
        changelogs.append(changelog, key % KEY_GROUPS, change);
    }

    private void complete(List<ChangelogStateHandleStreamImpl> handles, List<SequenceNumber> to) {
        if (deletes) {
            deleteUnused(handles);
        }
        for (int i = 0; i < workload.changelogs(); i++) {
            changelogs.writer(i).confirm(confirmed.get(i), to.get(i), checkpoint);
            confirmed.set(i, to.get(i));
            if (from.get(i).compareTo(truncated.get(i)) > 0) {
                changelogs.writer(i).truncate(from.get(i));
                truncated.set(i, from.get(i));
            }
            materialize(i);
        }
    }

    private void deleteUnused(List<ChangelogStateHandleStreamImpl> handles) {
        for (ChangelogStateHandleStreamImpl handle : handles) {
            if (handle != null) {
                handle.registerSharedStates(registry, checkpoint);
            }
        }
        registry.unregisterUnusedState(checkpoint);
    }

    /** A base whose materialization begins after a checkpoint is part of the second next one. */
    private void materialize(int changelog) {
        from.set(changelog, materialized.get(changelog));
        int period = workload.checkpointsPerMaterialization();
        int phase = (changelog * count + index) * period / (workload.changelogs() * count);
        if (checkpoint % period == phase) {
            materialized.set(changelog, changelogs.materialize(changelog));
        }
    }

    @Override
    public void close() throws IOException {
        changelogs.close();
    }
}
