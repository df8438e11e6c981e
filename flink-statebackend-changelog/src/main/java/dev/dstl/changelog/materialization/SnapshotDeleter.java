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

package dev.dstl.changelog.materialization;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.function.ThrowingRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes files of snapshots that no checkpoint contains, and that the JobManager therefore never
 * deletes. A file that cannot be deleted is logged and left behind. Thread-safe.
 */
public final class SnapshotDeleter {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotDeleter.class);

    private final String subtask;
    private final Executor blocking;
    private final Executor interrupts;
    private final LocalDirectories localDirectories;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /**
     * Creates a deleter.
     *
     * @param subtask name in log lines
     * @param blocking runs deletions, which may block forever; nothing else may wait for its
     *     threads; stays the caller's
     * @param interrupts runs each interrupt on a thread of its own, since it closes streams, which
     *     may hang; stays the caller's
     * @param localDirectories of the local copies
     */
    public SnapshotDeleter(
            String subtask,
            Executor blocking,
            Executor interrupts,
            LocalDirectories localDirectories) {
        this.subtask = subtask;
        this.blocking = blocking;
        this.interrupts = interrupts;
        this.localDirectories = localDirectories;
    }

    /** Deletes a base on another thread. */
    public void deleteLater(MaterializedBase base) {
        deleteLater(base::discard, base.id(), base);
    }

    /** Deletes the local copies of a base on another thread. */
    public void deleteLocalCopiesLater(MaterializedBase base) {
        if (!base.local().snapshots().isEmpty()) {
            deleteLater(base::discardLocalCopies, base.id(), base);
        }
    }

    /**
     * Interrupts a snapshot and deletes its files, on other threads. The interrupt does not wait
     * for the deletions before it: what it interrupts may be why they do not end.
     */
    public void deleteLater(DelegateSnapshot snapshot) {
        interrupt(snapshot);
        deleteLater(snapshot::discard, snapshot.id(), snapshot);
    }

    /** Interrupts a snapshot on another thread. Its files stay. */
    void interrupt(DelegateSnapshot snapshot) {
        try {
            interrupts.execute(snapshot::cancel);
        } catch (Throwable noThread) {
            // It then ends on its own, or when it is deleted.
            LOG.debug("{} of {} is not interrupted", snapshot, subtask, noThread);
        }
    }

    /** Deletes the files of a snapshot whose upload has ended, on another thread. */
    void deleteEndedLater(DelegateSnapshot snapshot) {
        deleteLater(snapshot::discard, snapshot.id(), snapshot);
    }

    private void deleteLater(ThrowingRunnable<Exception> deletion, long id, Object what) {
        waiting.add(
                () -> {
                    deleteNow(deletion, what);
                    deleteNow(() -> localDirectories.deleteIfEmpty(id), what);
                });
        try {
            blocking.execute(this::deleteWaiting);
        } catch (Throwable t) {
            // such as a thread that cannot be started; the next deletion includes this one
            LOG.warn("Files of {} of {} are deleted later than usual", what, subtask, t);
        }
    }

    private void deleteWaiting() {
        Runnable next = waiting.poll();
        while (next != null) {
            next.run();
            next = waiting.poll();
        }
    }

    private void deleteNow(ThrowingRunnable<Exception> deletion, Object what) {
        try {
            deletion.run();
        } catch (Throwable t) {
            LOG.warn("Files of {} of {} could not be deleted and stay behind", what, subtask, t);
            ExceptionUtils.rethrowIfFatalError(t);
        }
    }
}
