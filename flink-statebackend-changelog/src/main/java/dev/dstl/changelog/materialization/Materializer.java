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

import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.delegate.DelegateFlush;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import javax.annotation.concurrent.GuardedBy;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.core.fs.FileSystemSafetyNet;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.TemporaryClassLoaderContext;
import org.apache.flink.util.function.ThrowingRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Materializes one keyed backend. One materialization runs at a time. It starts and ends on the
 * task thread and is uploaded on another thread, so that checkpoints do not wait for it. A failed
 * materialization is retried at the next interval; the task fails only after too many failures in a
 * row. An upload that the store does not answer has failed, whether or not its thread returns. Can
 * be triggered and closed on any thread. If other threads change states, it begins with the next
 * checkpoint, since they pause only then.
 */
public final class Materializer implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(Materializer.class);

    private final String subtask;
    private final MaterializationSettings settings;
    private final MaterializationLifecycle lifecycle;
    private final MailboxExecutor mailbox;
    private final Executor uploads;
    private final ScheduledExecutorService clock;
    private final SnapshotDeleter deleter;
    private final ClassLoader userClassLoader;
    private final MaterializationMetrics metrics;
    private final MaterializationThrottle throttle;
    private final boolean onlyWithCheckpoints;
    private final Consumer<Throwable> failTask;

    private final Object lock = new Object();

    @GuardedBy("lock")
    private MaterializerState state = MaterializerState.IDLE;

    @GuardedBy("lock")
    @Nullable
    private DelegateSnapshot running;

    /** The running snapshot until its upload has ended or was given up, whichever came first. */
    @GuardedBy("lock")
    @Nullable
    private DelegateSnapshot uploading;

    @GuardedBy("lock")
    private final MaterializationTimer timer;

    /** Ends the running upload when it makes no progress any more. */
    @GuardedBy("lock")
    @Nullable
    private UploadWatch watch;

    private int failuresInARow;

    /**
     * Creates a materializer. All arguments stay the caller's.
     *
     * @param subtask name of operator and subtask
     * @param uploads runs uploads, which block
     * @param clock fires timers
     * @param userClassLoader context class loader of uploads
     * @param throttle receives the duration of each materialization
     * @param onlyWithCheckpoints whether the delegate may be used by another thread at any other
     *     time than when a checkpoint begins
     * @param failTask called when more materializations failed in a row than allowed
     */
    public Materializer(
            String subtask,
            MaterializationSettings settings,
            MaterializationLifecycle lifecycle,
            MailboxExecutor mailbox,
            Executor uploads,
            ScheduledExecutorService clock,
            SnapshotDeleter deleter,
            ClassLoader userClassLoader,
            MaterializationMetrics metrics,
            MaterializationThrottle throttle,
            boolean onlyWithCheckpoints,
            Consumer<Throwable> failTask) {
        this.subtask = subtask;
        this.settings = settings;
        this.lifecycle = lifecycle;
        this.mailbox = mailbox;
        this.uploads = uploads;
        this.clock = clock;
        this.deleter = deleter;
        this.userClassLoader = userClassLoader;
        this.metrics = metrics;
        this.throttle = throttle;
        this.onlyWithCheckpoints = onlyWithCheckpoints;
        this.failTask = failTask;
        this.timer = new MaterializationTimer(subtask, clock, this::trigger);
    }

    /** Starts periodic materialization, if it is enabled. */
    public void start() {
        if (settings.periodic()) {
            schedule(settings.initialDelayMillis(subtask));
        }
    }

    /** Triggers a materialization. No effect while one runs or after {@link #close()}. */
    public void trigger() {
        if (onlyWithCheckpoints) {
            await();
        } else {
            post(this::flush, "materialization of %s");
        }
    }

    private void await() {
        synchronized (lock) {
            if (state == MaterializerState.IDLE) {
                timer.cancel();
                state = state.to(MaterializerState.DUE);
            }
        }
    }

    /**
     * Begins a materialization that waits for a checkpoint, and schedules the next one if that has
     * failed. Called on the task thread when a checkpoint has been started that contains the
     * current base.
     */
    public void checkpointBegun() throws Exception {
        synchronized (lock) {
            timer.retry();
            if (state != MaterializerState.DUE) {
                return;
            }
        }
        if (!lifecycle.awaitsConfirmation()) {
            begin(System.nanoTime());
        }
    }

    /**
     * Interrupts the running materialization on another thread, if there is one. Does not count as
     * a failure.
     */
    public void cancelRunning() {
        DelegateSnapshot cancelled;
        synchronized (lock) {
            cancelled = running;
        }
        if (cancelled != null) {
            deleter.interrupt(cancelled);
        }
    }

    /**
     * Stops materializing. A running upload is interrupted; an uploaded snapshot that has not
     * become a base is deleted.
     */
    @Override
    public void close() {
        DelegateSnapshot unfinished;
        synchronized (lock) {
            state = state.to(MaterializerState.CLOSED);
            timer.cancel();
            cancelWatch();
            unfinished = running;
            running = null;
            uploading = null;
        }
        if (unfinished != null) {
            deleter.deleteLater(unfinished);
        }
    }

    private void flush() throws Exception {
        synchronized (lock) {
            if (state != MaterializerState.IDLE) {
                return;
            }
            timer.cancel();
        }
        long startNanos = System.nanoTime();
        Optional<DelegateFlush> flush = lifecycle.flush();
        if (flush.isEmpty()) {
            begin(startNanos);
            return;
        }
        synchronized (lock) {
            if (state == MaterializerState.CLOSED) {
                return;
            }
            state = state.to(MaterializerState.FLUSHING);
        }
        try {
            uploads.execute(() -> flush(flush.get(), startNanos));
        } catch (Throwable t) {
            LOG.debug("There is no thread to flush the delegate of {}", subtask, t);
            begin(startNanos);
        }
    }

    /** If the flush fails, the snapshot fails as well or succeeds without it. */
    private void flush(DelegateFlush flush, long startNanos) {
        try {
            flush.run();
        } catch (Throwable t) {
            LOG.debug("The delegate of {} is not flushed", subtask, t);
        }
        post(() -> begin(startNanos), "materialization of %s");
    }

    private void begin(long startNanos) throws Exception {
        synchronized (lock) {
            if (state == MaterializerState.CLOSED) {
                return;
            }
            state = state.to(MaterializerState.BEGINNING);
        }
        metrics.started();
        Optional<DelegateSnapshot> begun;
        try {
            begun = lifecycle.begin();
        } catch (Exception e) {
            if (endBeginning()) {
                failed(e);
            } else {
                LOG.debug("The task of {} ends as a materialization begins", subtask, e);
            }
            return;
        }
        if (begun.isEmpty()) {
            endBeginning();
            succeeded(0);
            return;
        }
        DelegateSnapshot snapshot = begun.get();
        if (!enterRunning(snapshot)) {
            deleter.deleteLater(snapshot);
            return;
        }
        try {
            uploads.execute(() -> upload(snapshot, startNanos));
        } catch (Throwable t) {
            deleter.deleteLater(snapshot);
            uploadFailed(snapshot, startNanos, t);
        }
    }

    /** Returns false if another thread closed the materializer meanwhile. */
    private boolean endBeginning() {
        synchronized (lock) {
            if (state == MaterializerState.CLOSED) {
                return false;
            }
            state = state.to(MaterializerState.IDLE);
            return true;
        }
    }

    /** Returns false if another thread closed the materializer while the snapshot started. */
    private boolean enterRunning(DelegateSnapshot snapshot) {
        synchronized (lock) {
            if (state == MaterializerState.CLOSED) {
                return false;
            }
            state = state.to(MaterializerState.RUNNING);
            running = snapshot;
            uploading = snapshot;
            return true;
        }
    }

    /** Reports the end of the upload to the task, whatever is thrown here. */
    private void upload(DelegateSnapshot snapshot, long startNanos) {
        MaterializedBase base;
        try {
            watch(snapshot, startNanos);
            base = uploadWithinSafetyNet(snapshot);
        } catch (Throwable t) {
            post(() -> uploadFailed(snapshot, startNanos, t), "failed materialization of %s");
            deleter.deleteEndedLater(snapshot);
            ExceptionUtils.rethrowIfFatalError(t);
            return;
        }
        if (!endUpload(snapshot)
                || !post(
                        () -> uploaded(snapshot, base, startNanos),
                        "end of materialization of %s")) {
            deleter.deleteLater(base);
        }
    }

    /**
     * Ends an upload, or gives it up. The files of one that was given up are deleted, so it must
     * not become a base as well, however late the task learns of its end.
     *
     * @return false if that was done before
     */
    private boolean endUpload(DelegateSnapshot snapshot) {
        synchronized (lock) {
            if (uploading != snapshot) {
                return false;
            }
            uploading = null;
            cancelWatch();
            return true;
        }
    }

    private void watch(DelegateSnapshot snapshot, long startNanos) {
        UploadWatch created =
                new UploadWatch(clock, snapshot, silent -> giveUp(snapshot, startNanos, silent));
        synchronized (lock) {
            if (uploading == snapshot) {
                watch = created;
                created.start();
            }
        }
    }

    private void giveUp(DelegateSnapshot snapshot, long startNanos, IOException silent) {
        if (endUpload(snapshot)) {
            post(() -> uploadFailed(snapshot, startNanos, silent), "failed materialization of %s");
            deleter.deleteLater(snapshot);
        }
    }

    private MaterializedBase uploadWithinSafetyNet(DelegateSnapshot snapshot) throws Exception {
        FileSystemSafetyNet.initializeSafetyNetForThread();
        TemporaryClassLoaderContext context = TemporaryClassLoaderContext.of(userClassLoader);
        try {
            return snapshot.base(snapshot.run());
        } finally {
            context.close();
            FileSystemSafetyNet.closeSafetyNetAndGuardedResourcesForThread();
        }
    }

    private void uploaded(DelegateSnapshot snapshot, MaterializedBase base, long startNanos)
            throws Exception {
        if (ended(snapshot, startNanos)) {
            lifecycle.complete(snapshot, base);
            succeeded(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
        } else {
            deleter.deleteLater(base);
        }
    }

    private void uploadFailed(DelegateSnapshot snapshot, long startNanos, Throwable cause)
            throws Exception {
        if (ended(snapshot, startNanos)) {
            lifecycle.fail(snapshot);
            if (cause instanceof CancellationException) {
                scheduleNext();
            } else {
                failed(cause);
            }
        }
    }

    /** Returns false if the upload was closed or given up before. */
    private boolean ended(DelegateSnapshot snapshot, long startNanos) {
        synchronized (lock) {
            if (running != snapshot) {
                return false;
            }
            running = null;
            uploading = null;
            cancelWatch();
            state = state.to(MaterializerState.IDLE);
        }
        throttle.ended(System.nanoTime() - startNanos);
        return true;
    }

    private void succeeded(long durationMillis) {
        failuresInARow = 0;
        metrics.completed(durationMillis);
        scheduleNext();
    }

    private void failed(Throwable cause) {
        failuresInARow++;
        metrics.failed(failuresInARow);
        if (failuresInARow > settings.maxFailuresAllowed()) {
            failTask.accept(
                    new IllegalStateException(
                            String.format(
                                    "%d materializations of %s failed in a row, more than"
                                            + " 'state.changelog.max-failures-allowed: %d' lets"
                                            + " pass; the last one because of: %s",
                                    failuresInARow,
                                    subtask,
                                    settings.maxFailuresAllowed(),
                                    cause.getMessage()),
                            cause));
            return;
        }
        LOG.warn("Materialization of {} failed and will be retried", subtask, cause);
        scheduleNext();
    }

    private void scheduleNext() {
        if (settings.periodic()) {
            schedule(settings.intervalMillis());
        }
    }

    private void schedule(long delayMillis) {
        synchronized (lock) {
            if (state != MaterializerState.CLOSED) {
                timer.schedule(delayMillis);
            }
        }
    }

    @GuardedBy("lock")
    private void cancelWatch() {
        if (watch != null) {
            watch.end();
            watch = null;
        }
    }

    private boolean post(ThrowingRunnable<Exception> mail, String description) {
        try {
            mailbox.execute(mail, description, subtask);
            return true;
        } catch (RejectedExecutionException taskHasEnded) {
            return false;
        } catch (Throwable t) {
            // the exception would otherwise be lost
            failTask.accept(t);
            return false;
        }
    }
}
