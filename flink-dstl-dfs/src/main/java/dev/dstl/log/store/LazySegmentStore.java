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

package dev.dstl.log.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.api.StoreException;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.memory.JobMemory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.util.ExceptionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store that is opened on first use and reopened after a failure. There is no test write: the
 * first segment serves as one, and is retried like any other. So a job starts and restores whatever
 * the state of the store, and a thousand TaskManagers do not access it all at once.
 *
 * <p>Setting up a file system client may hang and ignore interrupts, and Flink sets up one client
 * at a time. Only one thread per store does this; all others wait for it with a timeout.
 * Thread-safe.
 */
public final class LazySegmentStore implements SegmentStore, AutoCloseable {

    /** Longer than a working client needs, shorter than Flink waits for a task. */
    private static final long PATIENCE_MILLIS = 5_000;

    /** Longer than a healthy store needs for a segment, shorter than a checkpoint waits for it. */
    private static final long SILENT_MILLIS = 2_000;

    private static final String ABORTED_BY_AWS_CLIENT = "AbortedException";

    private static final Logger LOG = LoggerFactory.getLogger(LazySegmentStore.class);

    private final BasePath basePath;
    private final Opening opening;
    private final long patienceMillis;
    private final LongSupplier nanoTime;
    private final ThreadFactory threads;

    @GuardedBy("this")
    @Nullable
    private CompletableFuture<FileSystemSegmentStore> opened;

    @GuardedBy("this")
    @Nullable
    private Thread opener;

    @GuardedBy("this")
    private Trial trial = Trial.UNTRIED;

    @GuardedBy("this")
    private int requests;

    /** When a request last began or ended. */
    @GuardedBy("this")
    private long idleSinceNanos;

    /** Start of the first request after the last successful write. */
    @GuardedBy("this")
    @Nullable
    private Long fruitlessSinceNanos;

    /** The latest failure since {@link #fruitlessSinceNanos}. */
    @GuardedBy("this")
    @Nullable
    private String latestFailure;

    /** Failures after closing are due to interrupts and say nothing about the store. */
    private volatile boolean closed;

    /**
     * Creates a store without opening it.
     *
     * @param maxBufferBytes maximum size of the buffer of one write
     * @param memory changelog memory of the job
     */
    public LazySegmentStore(BasePath basePath, int maxBufferBytes, JobMemory memory) {
        this(basePath, () -> basePath.open(maxBufferBytes, memory), PATIENCE_MILLIS);
    }

    LazySegmentStore(BasePath basePath, Opening opening, long patienceMillis) {
        this(basePath, opening, patienceMillis, System::nanoTime);
    }

    LazySegmentStore(
            BasePath basePath, Opening opening, long patienceMillis, LongSupplier nanoTime) {
        this(basePath, opening, patienceMillis, nanoTime, new DaemonThreads("dstl-store"));
    }

    LazySegmentStore(
            BasePath basePath,
            Opening opening,
            long patienceMillis,
            LongSupplier nanoTime,
            ThreadFactory threads) {
        this.basePath = basePath;
        this.opening = opening;
        this.patienceMillis = patienceMillis;
        this.nanoTime = nanoTime;
        this.threads = threads;
    }

    /**
     * Opens the store to distinguish misuse from transient failures. Waits a few seconds at most. A
     * store that cannot be opened now is not an error.
     *
     * @throws IllegalConfigurationException if the store can never be opened with this
     *     configuration
     * @throws InterruptedIOException if the thread is interrupted
     */
    public void open() throws InterruptedIOException {
        try {
            store();
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            if (e instanceof IllegalConfigurationException) {
                throw (IllegalConfigurationException) e;
            }
            tried(e);
        }
    }

    @Override
    public Path locate(SegmentName name) throws IOException {
        return trying(store -> store.locate(name), () -> false);
    }

    @Override
    public void write(Path file, SegmentContent content) throws IOException {
        trying(
                store -> {
                    store.write(file, content);
                    return file;
                },
                content::isCancelled);
        tried(null);
    }

    @Override
    public void delete(Path file) throws IOException {
        store().delete(file);
    }

    @Override
    public void ping() throws IOException {
        store().ping();
    }

    /**
     * Runs optional work on the file system. Not run if the file system cannot be set up now.
     *
     * @param work called at most once, on the calling thread
     */
    public void whenOpen(Consumer<FileSystem> work) {
        FileSystem fileSystem;
        try {
            fileSystem = store().fileSystem();
        } catch (IOException | RuntimeException e) {
            LOG.debug("The file system of {} is not set up yet", basePath, e);
            return;
        }
        work.accept(fileSystem);
    }

    private Path trying(Request request, BooleanSupplier cancelled) throws IOException {
        trying(1);
        try {
            return request.send(store());
        } catch (Throwable e) {
            // An error too, as of a client whose classes cannot be loaded, says what is wrong. What
            // a client throws whose stream was closed under it does not, whatever it looks like.
            if (!cancelled.getAsBoolean()) {
                tried(e);
            }
            throw e;
        } finally {
            trying(-1);
        }
    }

    private synchronized void trying(int more) {
        long now = nanoTime.getAsLong();
        boolean wasIdle = requests == 0 && isLong(now - idleSinceNanos);
        // The end of a request that a hedged attempt has overtaken begins nothing.
        if (more > 0 && (fruitlessSinceNanos == null || (wasIdle && latestFailure == null))) {
            fruitlessSinceNanos = now;
        }
        requests += more;
        idleSinceNanos = now;
    }

    private static boolean isLong(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) >= SILENT_MILLIS;
    }

    /**
     * Returns why nothing can be stored at present, as a sentence for users: the latest failure, or
     * that requests have not been answered for some time.
     *
     * @return empty if the store accepts writes
     */
    public synchronized Optional<String> problem() {
        if (fruitlessSinceNanos == null) {
            return Optional.empty();
        }
        long nanos = nanoTime.getAsLong() - fruitlessSinceNanos;
        if (latestFailure == null && (requests == 0 || !isLong(nanos))) {
            return Optional.empty();
        }
        return Optional.of(
                basePath.complaint(
                        "for " + TimeUnit.NANOSECONDS.toSeconds(nanos) + " s",
                        latestFailure == null ? "no request was answered" : latestFailure));
    }

    private FileSystemSegmentStore store() throws IOException {
        try {
            return opened().get(patienceMillis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IllegalConfigurationException) {
                throw (IllegalConfigurationException) cause;
            }
            throw new IOException(
                    "The file system cannot be set up: " + StoreException.describe(cause), cause);
        } catch (TimeoutException e) {
            throw new NotYetOpenException(
                    String.format(
                            "The file system was not set up within %d ms and is waited for",
                            patienceMillis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while the file system was set up");
        }
    }

    private synchronized CompletableFuture<FileSystemSegmentStore> opened() {
        if (opened == null || opened.isCompletedExceptionally()) {
            CompletableFuture<FileSystemSegmentStore> next = new CompletableFuture<>();
            opened = next;
            startOpening(next);
        }
        return opened;
    }

    @GuardedBy("this")
    private void startOpening(CompletableFuture<FileSystemSegmentStore> result) {
        try {
            opener = threads.newThread(() -> open(result));
            opener.start();
        } catch (Throwable noThread) {
            // The next request tries again.
            result.completeExceptionally(noThread);
        }
    }

    private void open(CompletableFuture<FileSystemSegmentStore> result) {
        try {
            result.complete(opening.open());
        } catch (Throwable t) {
            result.completeExceptionally(t);
        }
    }

    /** Logs once if the store does not work from the start, and once when it does. */
    private void tried(@Nullable Throwable failure) {
        if (closed || (failure != null && isCancellation(failure))) {
            return;
        }
        Trial before;
        boolean news;
        synchronized (this) {
            before = trial;
            latestFailure = failure == null ? null : StoreException.describe(failure);
            if (failure == null) {
                fruitlessSinceNanos = null;
            }
            trial = failure == null ? Trial.STORED : before.failed(failure);
            news = trial != before;
        }
        if (failure == null && news && before != Trial.UNTRIED) {
            LOG.info("State changes are stored below {} from now on", basePath);
        } else if (failure != null && news) {
            LOG.warn("{}", basePath.complaint("so far", StoreException.describe(failure)));
        }
    }

    /** Failures of cancelled attempts say nothing new about the store. */
    private static boolean isCancellation(Throwable failure) {
        return Thread.currentThread().isInterrupted()
                || ExceptionUtils.findThrowable(failure, LazySegmentStore::saysInterrupted)
                        .isPresent();
    }

    private static boolean saysInterrupted(Throwable failure) {
        return failure instanceof InterruptedException
                || failure instanceof ClosedByInterruptException
                || (failure instanceof InterruptedIOException
                        && !(failure instanceof SocketTimeoutException))
                || failure.getClass().getSimpleName().equals(ABORTED_BY_AWS_CLIENT);
    }

    /** Interrupts the thread that sets up the file system. */
    @Override
    public synchronized void close() {
        closed = true;
        if (opener != null) {
            opener.interrupt();
        }
    }

    /** Sets up the file system. */
    interface Opening {
        FileSystemSegmentStore open() throws IOException;
    }

    private static final class NotYetOpenException extends IOException {

        private static final long serialVersionUID = 1L;

        private NotYetOpenException(String message) {
            super(message);
        }
    }

    private interface Request {
        Path send(FileSystemSegmentStore store) throws IOException;
    }

    /** State of knowledge about the base path. */
    private enum Trial {
        UNTRIED,
        /** Setting up the file system takes long. */
        WAITING,
        FAILED,
        STORED;

        Trial failed(Throwable failure) {
            if (this == STORED || this == FAILED) {
                return this;
            }
            return failure instanceof NotYetOpenException ? WAITING : FAILED;
        }
    }
}
