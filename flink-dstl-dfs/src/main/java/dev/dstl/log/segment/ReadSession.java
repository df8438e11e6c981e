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

package dev.dstl.log.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.execution.DaemonThreads;
import java.io.Closeable;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads of one restore or one compaction: counts retries, records the segments that could not
 * be read, and abandons all reads at once, even if they hang. Thread safe.
 */
public final class ReadSession {

    private static final Logger LOG = LoggerFactory.getLogger(ReadSession.class);

    private static final int RESTORE_TRIES = 4;
    private static final long RESTORE_PAUSE_MILLIS = 200;
    private static final int MAX_DOUBLINGS = 4;

    /** Longer than stores stall as a rule. */
    private static final long RESTORE_PATIENCE_MILLIS = 15_000;

    private static final ThreadFactory CLOSERS = new DaemonThreads("changelog-read-close");

    private final int maxTries;
    private final long firstPauseMillis;
    private final long firstPatienceMillis;
    private final LongSupplier nanoTime;
    private final Runnable whenRetried;
    private final Runnable whenEnded;

    @GuardedBy("this")
    private final Map<Thread, Operation> inside = new HashMap<>();

    @GuardedBy("this")
    private final Set<Closeable> streams = Collections.newSetFromMap(new IdentityHashMap<>());

    @GuardedBy("this")
    private final Set<StreamStateHandle> unreadable = new HashSet<>();

    @GuardedBy("this")
    private boolean givenUp;

    @GuardedBy("this")
    private long longestNanos;

    /**
     * Begins without reads.
     *
     * @param maxTries how often a read is tried before it has failed, at least 1
     * @param firstPauseMillis before the second try; doubles from try to try, four times at most
     * @param nanoTime the clock
     * @param whenRetried called before each further try, on the thread that reads
     * @param whenEnded called when the last thread that waited goes on after the session was given
     *     up, on that thread
     */
    public ReadSession(
            int maxTries,
            long firstPauseMillis,
            LongSupplier nanoTime,
            Runnable whenRetried,
            Runnable whenEnded) {
        this(maxTries, firstPauseMillis, 0, nanoTime, whenRetried, whenEnded);
    }

    private ReadSession(
            int maxTries,
            long firstPauseMillis,
            long firstPatienceMillis,
            LongSupplier nanoTime,
            Runnable whenRetried,
            Runnable whenEnded) {
        this.maxTries = maxTries;
        this.firstPauseMillis = firstPauseMillis;
        this.firstPatienceMillis = firstPatienceMillis;
        this.nanoTime = nanoTime;
        this.whenRetried = whenRetried;
        this.whenEnded = whenEnded;
    }

    /**
     * For a task that restores, or a tool: a few tries. A read that fails has them within about a
     * second and a half; one that hangs is left behind after 15 s, 30 s, 60 s and 120 s without a
     * byte.
     */
    public static ReadSession ofRestore() {
        return ofRestore(() -> {});
    }

    /**
     * The same.
     *
     * @param whenRetried called before each further try, on the thread that reads
     */
    public static ReadSession ofRestore(Runnable whenRetried) {
        return ofRestore(RESTORE_PATIENCE_MILLIS, whenRetried);
    }

    /**
     * The same with another patience.
     *
     * @param firstPatienceMillis how long the first try may give no byte; doubles from try to try
     * @param whenRetried called before each further try, on the thread that reads
     */
    public static ReadSession ofRestore(long firstPatienceMillis, Runnable whenRetried) {
        return new ReadSession(
                RESTORE_TRIES,
                RESTORE_PAUSE_MILLIS,
                firstPatienceMillis,
                System::nanoTime,
                whenRetried,
                () -> {});
    }

    /** Whether reads that hang are left behind by the session itself. */
    boolean isPatienceLimited() {
        return firstPatienceMillis > 0;
    }

    /** How long a try may give no byte after so many failures. */
    long patienceMillis(int failures) {
        return firstPatienceMillis << Math.min(failures, MAX_DOUBLINGS);
    }

    /**
     * The calling thread begins to wait for the store, or for the disk with the copy.
     *
     * @param segment what it reads: a {@link SegmentCopy} only as long as that reads the copy
     * @throws InterruptedIOException if the session was given up
     */
    synchronized void begin(StreamStateHandle segment) throws InterruptedIOException {
        enter(new Operation(segment, nanoTime.getAsLong()));
    }

    /**
     * The calling thread begins to wait for another one of the session.
     *
     * @throws InterruptedIOException if the session was given up
     */
    public synchronized void beginWaiting() throws InterruptedIOException {
        enter(new Operation(null, 0));
    }

    @GuardedBy("this")
    private void enter(Operation operation) throws InterruptedIOException {
        checkWanted();
        inside.put(Thread.currentThread(), operation);
    }

    /**
     * The calling thread got what it waited for, or an exception.
     *
     * @throws InterruptedIOException if the session was abandoned; the caller that abandoned it may
     *     have taken what the calling thread had
     */
    public void end() throws InterruptedIOException {
        synchronized (this) {
            Operation ended = inside.remove(Thread.currentThread());
            if (ended != null && ended.segment != null) {
                longestNanos = Math.max(longestNanos, nanoTime.getAsLong() - ended.startNanos);
            }
            if (!givenUp) {
                return;
            }
            // The interrupt was for this operation, and the thread may serve others.
            boolean unused = Thread.interrupted();
            if (!inside.isEmpty()) {
                checkWanted();
            }
        }
        whenEnded.run();
        throw givenUp();
    }

    private static InterruptedIOException givenUp() {
        return new InterruptedIOException("Reading was given up");
    }

    @GuardedBy("this")
    private void checkWanted() throws InterruptedIOException {
        if (givenUp) {
            throw givenUp();
        }
    }

    synchronized void opened(Closeable stream) {
        streams.add(stream);
    }

    synchronized void closed(Closeable stream) {
        streams.remove(stream);
    }

    /** A segment could not be read. */
    synchronized void failed(StreamStateHandle segment) {
        unreadable.add(originalOf(segment));
    }

    private static StreamStateHandle originalOf(StreamStateHandle segment) {
        StreamStateHandle original = segment;
        while (original instanceof SegmentCopy) {
            original = ((SegmentCopy) original).original();
        }
        return original;
    }

    /** Whether a read that failed so many times gets another try. */
    boolean retries(int failures) {
        return failures < maxTries;
    }

    /**
     * Waits before another try.
     *
     * @param failures at least 1
     */
    void pause(int failures) throws InterruptedIOException {
        whenRetried.run();
        long pauseMillis = firstPauseMillis << Math.min(failures - 1, MAX_DOUBLINGS);
        if (pauseMillis == 0) {
            return;
        }
        beginWaiting();
        try {
            Thread.sleep(pauseMillis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted before another try to read");
        } finally {
            end();
        }
    }

    /** How long the oldest read that has not ended takes already; 0 without any. */
    public synchronized long oldestNanos() {
        long now = nanoTime.getAsLong();
        long oldest = 0;
        for (Operation operation : inside.values()) {
            if (operation.segment != null) {
                oldest = Math.max(oldest, now - operation.startNanos);
            }
        }
        return oldest;
    }

    /** How long the longest read took that has ended. */
    public synchronized long longestNanos() {
        return longestNanos;
    }

    /**
     * The segments of reads that failed for good, or were given up because of their age; never
     * copies.
     */
    public synchronized Set<StreamStateHandle> unreadable() {
        return new HashSet<>(unreadable);
    }

    /** Whether a thread of the session waits for the store or for another thread. */
    public synchronized boolean isIdle() {
        return inside.isEmpty();
    }

    /** Whether {@link #giveUp} was called: no read begins any more. */
    public synchronized boolean isGivenUp() {
        return givenUp;
    }

    /**
     * Ends all reads: closes their streams, interrupts their threads, and lets none begin. A thread
     * that ignores both stays blocked until the store answers. A copy that does not answer has
     * failed.
     *
     * @param timeoutNanos age from which a read counts as unreadable
     * @return the threads that waited at that moment; they fail as soon as they go on
     */
    public Set<Thread> giveUp(long timeoutNanos) {
        List<Closeable> closing;
        Set<Thread> waiting;
        List<SegmentCopy> silent = new ArrayList<>();
        synchronized (this) {
            givenUp = true;
            long now = nanoTime.getAsLong();
            for (Operation operation : inside.values()) {
                if (operation.segment != null && now - operation.startNanos >= timeoutNanos) {
                    unreadable.add(originalOf(operation.segment));
                    if (operation.segment instanceof SegmentCopy) {
                        silent.add((SegmentCopy) operation.segment);
                    }
                }
            }
            waiting = new HashSet<>(inside.keySet());
            waiting.forEach(Thread::interrupt);
            closing = waiting.isEmpty() ? List.of() : new ArrayList<>(streams);
        }
        silent.forEach(SegmentCopy::failed);
        if (!closing.isEmpty()) {
            closeElsewhere(closing);
        }
        return waiting;
    }

    /** Closes a stream on a thread of its own, since closing may hang as well. */
    static void closeElsewhere(Closeable stream) {
        closeElsewhere(List.of(stream));
    }

    /** Closing a stream may take as long as reading from it. */
    private static void closeElsewhere(List<Closeable> streams) {
        try {
            CLOSERS.newThread(() -> streams.forEach(ReadSession::close)).start();
        } catch (Throwable noThread) {
            LOG.debug("Streams of reads that were given up are closed by their readers", noThread);
        }
    }

    private static void close(Closeable stream) {
        try {
            stream.close();
        } catch (Throwable t) {
            LOG.debug("Could not close the stream of a read that was given up", t);
        }
    }

    /** What a thread waits for. */
    private static final class Operation {

        /** A copy, or a segment itself; null if it waits for another thread. */
        private final StreamStateHandle segment;

        private final long startNanos;

        private Operation(StreamStateHandle segment, long startNanos) {
            this.segment = segment;
            this.startNanos = startNanos;
        }
    }
}
