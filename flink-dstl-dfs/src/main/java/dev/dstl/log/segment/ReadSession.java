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
 * be read, and abandons all reads at once, even if they hang. Thread-safe.
 */
public final class ReadSession {

    private static final Logger LOG = LoggerFactory.getLogger(ReadSession.class);

    private static final int RESTORE_TRIES = 4;
    private static final long RESTORE_PAUSE_MILLIS = 200;
    private static final int MAX_DOUBLINGS = 4;

    /** Longer than most stalls of stores. */
    private static final long RESTORE_PATIENCE_MILLIS = 15_000;

    private static final ThreadFactory CLOSERS = new DaemonThreads("changelog-read-close");

    private final int maxTries;
    private final long firstPauseMillis;
    private final long firstPatienceMillis;
    private final AnswerTimes answers;
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
    private boolean finished;

    @GuardedBy("this")
    private long longestNanos;

    /**
     * Creates a session without reads, whose hanging reads only {@link #giveUp} abandons.
     *
     * @param maxTries number of tries after which a read has failed, at least 1
     * @param firstPauseMillis pause before the second try; doubles with each try, up to four times
     * @param nanoTime the clock
     * @param whenRetried called before each further try, on the reading thread
     * @param whenEnded called when nothing of the session is left after {@link #giveUp} or {@link
     *     #finish}, on the last thread that waited
     */
    public ReadSession(
            int maxTries,
            long firstPauseMillis,
            LongSupplier nanoTime,
            Runnable whenRetried,
            Runnable whenEnded) {
        this(maxTries, firstPauseMillis, 0, new AnswerTimes(), nanoTime, whenRetried, whenEnded);
    }

    private ReadSession(
            int maxTries,
            long firstPauseMillis,
            long firstPatienceMillis,
            AnswerTimes answers,
            LongSupplier nanoTime,
            Runnable whenRetried,
            Runnable whenEnded) {
        this.maxTries = maxTries;
        this.firstPauseMillis = firstPauseMillis;
        this.firstPatienceMillis = firstPatienceMillis;
        this.answers = answers;
        this.nanoTime = nanoTime;
        this.whenRetried = whenRetried;
        this.whenEnded = whenEnded;
    }

    /**
     * Creates a session for a restore or a tool. A failing read is retried for about 1.5 s; a
     * hanging one is abandoned after 15 s, then 30 s, 60 s and 120 s without a byte. Before that, a
     * request that takes four times as long as the slowest so far is replaced once: some of an
     * object store's requests take seconds, and the next one rarely does.
     */
    public static ReadSession ofRestore() {
        return ofRestore(() -> {});
    }

    /**
     * Creates a session as {@link #ofRestore()} does.
     *
     * @param whenRetried called before each further try, on the reading thread
     */
    public static ReadSession ofRestore(Runnable whenRetried) {
        return ofRestore(RESTORE_PATIENCE_MILLIS, whenRetried);
    }

    /**
     * Creates a session as {@link #ofRestore()} does, with another timeout.
     *
     * @param firstPatienceMillis time without a byte after which the first try is abandoned;
     *     doubles with each try
     * @param whenRetried called before each further try, on the reading thread
     */
    public static ReadSession ofRestore(long firstPatienceMillis, Runnable whenRetried) {
        return ofRestore(firstPatienceMillis, new AnswerTimes(), whenRetried);
    }

    /** Creates a session as {@link #ofRestore(Runnable)} does, which shares its answer times. */
    static ReadSession ofRestore(AnswerTimes answers, Runnable whenRetried) {
        return ofRestore(RESTORE_PATIENCE_MILLIS, answers, whenRetried);
    }

    static ReadSession ofRestore(
            long firstPatienceMillis, AnswerTimes answers, Runnable whenRetried) {
        return new ReadSession(
                RESTORE_TRIES,
                RESTORE_PAUSE_MILLIS,
                firstPatienceMillis,
                answers,
                System::nanoTime,
                whenRetried,
                () -> {});
    }

    /** Returns whether the session abandons hanging reads by itself. */
    boolean isPatienceLimited() {
        return firstPatienceMillis > 0;
    }

    /**
     * Returns the time without a byte after which a try is abandoned, in milliseconds.
     *
     * @param failures number of failed tries before
     */
    long patienceMillis(int failures) {
        return firstPatienceMillis << Math.min(failures, MAX_DOUBLINGS);
    }

    /**
     * Returns the time without a byte after which a request is replaced by a second one, in
     * milliseconds; no less than {@link #patienceMillis} if it is not to be replaced.
     */
    long earlyRetryMillis() {
        return answers.earlyRetryMillis();
    }

    /**
     * Reports that the store has answered a request.
     *
     * @param nanos time that it took
     */
    void answered(long nanos) {
        answers.answered(nanos);
    }

    /** Reports that a slow request is replaced. */
    void retriedEarly() {
        whenRetried.run();
    }

    /**
     * Marks the calling thread as waiting for the store or the local disk.
     *
     * @param segment the segment being read; a {@link SegmentCopy} only while its copy is read
     * @throws InterruptedIOException if the session was abandoned
     */
    synchronized void begin(StreamStateHandle segment) throws InterruptedIOException {
        enter(new Operation(segment, nanoTime.getAsLong()));
    }

    /**
     * Marks the calling thread as closing a stream. Streams are closed also after the session was
     * abandoned.
     *
     * @param segment as in {@link #begin}
     */
    synchronized void beginClosing(StreamStateHandle segment) {
        inside.put(Thread.currentThread(), new Operation(segment, nanoTime.getAsLong()));
    }

    /**
     * Marks the calling thread as waiting for another thread of the session.
     *
     * @throws InterruptedIOException if the session was abandoned
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
     * Marks the calling thread as no longer waiting.
     *
     * @throws InterruptedIOException if the session was abandoned; the result of the read may then
     *     belong to the abandoning caller
     */
    public void end() throws InterruptedIOException {
        boolean last;
        boolean abandoned;
        synchronized (this) {
            Operation ended = inside.remove(Thread.currentThread());
            if (ended != null && ended.segment != null) {
                longestNanos = Math.max(longestNanos, nanoTime.getAsLong() - ended.startNanos);
            }
            abandoned = givenUp;
            last = (givenUp || finished) && !isPending();
            if (abandoned) {
                // The interrupt was for this operation, and the thread may serve others.
                boolean unused = Thread.interrupted();
            }
        }
        if (last) {
            whenEnded.run();
        }
        if (abandoned) {
            throw givenUp();
        }
    }

    /** A stream that nobody closes yet will be closed by its reader. */
    @GuardedBy("this")
    private boolean isPending() {
        return !inside.isEmpty() || !streams.isEmpty();
    }

    private static InterruptedIOException givenUp() {
        return new InterruptedIOException("The read was abandoned");
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

    /** Records that a segment could not be read. */
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

    /** Returns whether a read is retried after the given number of failures. */
    boolean retries(int failures) {
        return failures < maxTries;
    }

    /**
     * Waits before the next try.
     *
     * @param failures number of failed tries, at least 1
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

    /** Returns the age in nanoseconds of the oldest pending read; 0 if there is none. */
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

    /** Returns the duration in nanoseconds of the longest completed read. */
    public synchronized long longestNanos() {
        return longestNanos;
    }

    /**
     * Returns the segments whose reads finally failed or were too old when the session was
     * abandoned; originals, never copies.
     */
    public synchronized Set<StreamStateHandle> unreadable() {
        return new HashSet<>(unreadable);
    }

    /** Reports that no result of the session is needed any more. Its streams may still be open. */
    public synchronized void finish() {
        finished = true;
    }

    /**
     * Interrupts the threads that wait after {@link #finish}. They are closing their streams, which
     * is left to them, since a second close may hang as well; no segment counts as unreadable.
     */
    public synchronized void interruptClosing() {
        inside.keySet().forEach(Thread::interrupt);
    }

    /**
     * Returns whether the session was abandoned or is finished, but a thread waits for the store,
     * or a stream is open.
     */
    public synchronized boolean isLingering() {
        return (givenUp || finished) && isPending();
    }

    /** Returns whether {@link #giveUp} was called, after which no read starts. */
    public synchronized boolean isGivenUp() {
        return givenUp;
    }

    /**
     * Abandons all reads: closes their streams, interrupts their threads, and lets no read start. A
     * thread that ignores both stays blocked until the store answers. A local copy that does not
     * answer counts as failed.
     *
     * @param timeoutNanos age from which a pending read counts as unreadable
     * @return threads that were waiting; they fail as soon as they continue
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

    /** Closes a stream on a thread of its own, since closing may hang. */
    static void closeElsewhere(Closeable stream) {
        closeElsewhere(List.of(stream));
    }

    /** Closes streams on a thread of their own. */
    private static void closeElsewhere(List<Closeable> streams) {
        try {
            CLOSERS.newThread(() -> streams.forEach(ReadSession::close)).start();
        } catch (Throwable noThread) {
            LOG.debug("Streams of abandoned reads are closed by their readers", noThread);
        }
    }

    private static void close(Closeable stream) {
        try {
            stream.close();
        } catch (Throwable t) {
            LOG.debug("Could not close the stream of an abandoned read", t);
        }
    }

    /** What a thread waits for. */
    private static final class Operation {

        /** A segment or a copy; null if the thread waits for another thread. */
        private final StreamStateHandle segment;

        private final long startNanos;

        private Operation(StreamStateHandle segment, long startNanos) {
            this.segment = segment;
            this.startNanos = startNanos;
        }
    }
}
