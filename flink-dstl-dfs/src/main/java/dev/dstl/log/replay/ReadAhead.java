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

package dev.dstl.log.replay;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.api.ReplayMemory;
import dev.dstl.log.api.StoreException;
import dev.dstl.log.execution.DaemonThreads;
import dev.dstl.log.execution.FailureReport;
import dev.dstl.log.segment.FetchedFrame;
import dev.dstl.log.segment.FrameCursor;
import dev.dstl.log.segment.ReadSession;
import dev.dstl.log.segment.SegmentReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches frames ahead of the reader, several segments at a time, so that a restore does not wait
 * for the latency of the store once per segment. Fetched frames that are not yet read stay within a
 * budget; a frame that exceeds it is read on demand.
 *
 * <pre>
 *   handle    | segment 1: frame, frame | segment 2: frame | segment 3: frame | segment 4 ...
 *               being read                being fetched, {@value #SEGMENTS_AHEAD} at most    not begun
 * </pre>
 */
final class ReadAhead implements FrameSequence {

    static final int SEGMENTS_AHEAD = 8;

    private static final Logger LOG = LoggerFactory.getLogger(ReadAhead.class);

    private final KeyGroupRange keyGroups;
    private final ReplayMemory budget;
    private final ReadSession session;
    private final Deque<Visit> waiting = new ArrayDeque<>();
    private final Deque<Visit> begun = new ArrayDeque<>();
    private final ExecutorService threads;

    /** Reader of a frame that exceeded the memory limit. */
    @Nullable private SegmentReader direct;

    @Nullable private Visit current;
    private int place;

    ReadAhead(ChangelogStateHandleStreamImpl handle, ReplayMemory budget, ReadSession session) {
        this(handle, budget, session, new DaemonThreads("changelog-read-ahead"));
    }

    /**
     * Creates a sequence that has fetched nothing yet.
     *
     * @param budget for fetched frames
     * @param factory creates the threads that fetch
     */
    ReadAhead(
            ChangelogStateHandleStreamImpl handle,
            ReplayMemory budget,
            ReadSession session,
            ThreadFactory factory) {
        this.keyGroups = handle.getKeyGroupRange();
        this.budget = budget;
        this.session = session;
        for (Tuple2<StreamStateHandle, Long> position : handle.getHandlesAndOffsets()) {
            if (waiting.isEmpty() || !waiting.getLast().segment.equals(position.f0)) {
                waiting.addLast(new Visit(position.f0));
            }
            waiting.getLast().offsets.add(position.f1);
        }
        this.threads =
                Executors.newFixedThreadPool(
                        Math.max(1, Math.min(waiting.size(), SEGMENTS_AHEAD)), factory);
    }

    @Override
    public boolean startNext(FrameCursor cursor) throws IOException {
        leaveFrame();
        if (current == null || place == current.offsets.size()) {
            closeDirect();
            begin();
            current = begun.pollFirst();
            place = 0;
            if (current == null) {
                return false;
            }
            await(current);
        }
        FetchedFrame fetched = current.frames.get(place);
        if (fetched != null) {
            cursor.start(fetched, keyGroups);
        } else {
            if (direct == null) {
                direct = SegmentReader.open(current.segment, session);
            }
            cursor.start(direct, direct.frameAt(current.offsets.get(place)), keyGroups);
        }
        place++;
        return true;
    }

    private void begin() {
        while (begun.size() < SEGMENTS_AHEAD && !waiting.isEmpty()) {
            Visit visit = waiting.removeFirst();
            if (startFetching(visit)) {
                begun.addLast(visit);
            } else if (begun.isEmpty()) {
                begun.addLast(visit);
                visit.run();
            } else {
                waiting.addFirst(visit);
                return;
            }
        }
    }

    private boolean startFetching(Visit visit) {
        try {
            threads.execute(visit);
            return true;
        } catch (OutOfMemoryError noThread) {
            LOG.debug("Fetching {} waits for a thread", visit.segment, noThread);
            return false;
        }
    }

    private void await(Visit visit) throws IOException {
        session.beginWaiting();
        try {
            visit.done.get();
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException) {
                throw (IOException) cause;
            }
            throw StoreException.of(
                    "A segment cannot be read: " + StoreException.describe(cause), cause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while a segment was being read");
        } finally {
            session.end();
        }
    }

    private void leaveFrame() {
        if (current != null && place > 0) {
            current.release(place - 1);
        }
    }

    private void closeDirect() {
        IOUtils.closeQuietly(direct);
        direct = null;
    }

    /**
     * Interrupts running fetches, which end on their own. If there are none, threads that still
     * close streams are left alone.
     */
    @Override
    public void close() {
        if (isFetching()) {
            threads.shutdownNow();
        } else {
            threads.shutdown();
        }
        if (current != null) {
            current.abandon();
            current = null;
        }
        begun.forEach(Visit::abandon);
        begun.clear();
        waiting.clear();
        closeDirect();
    }

    private boolean isFetching() {
        return (current != null && !current.done.isDone())
                || begun.stream().anyMatch(visit -> !visit.done.isDone());
    }

    /** The fetch of one segment's frames. */
    private final class Visit implements Runnable {

        private final StreamStateHandle segment;
        private final List<Long> offsets = new ArrayList<>(1);
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private final Runnable ending = this::end;

        /** Frames in order; null for a frame that exceeded the memory limit. */
        private final List<FetchedFrame> frames = new ArrayList<>(1);

        private long reservedBytes;
        @Nullable private Throwable failure;

        @GuardedBy("this")
        private boolean abandoned;

        private Visit(StreamStateHandle segment) {
            this.segment = segment;
        }

        @Override
        public void run() {
            SegmentReader reader = null;
            try {
                reader = SegmentReader.open(segment, session);
                for (Long offset : offsets) {
                    frames.add(FetchedFrame.fetch(reader, offset, keyGroups, this::reserve));
                }
            } catch (Throwable t) {
                failure = t;
            }
            try {
                FailureReport.send(ending);
            } finally {
                // Nobody waits for this, since it may hang.
                IOUtils.closeQuietly(reader);
            }
        }

        /**
         * Reserves memory. The reservation also covers frames that are not fetched because reading
         * fails.
         */
        private boolean reserve(long bytes) {
            if (!budget.tryReserve(bytes)) {
                return false;
            }
            reservedBytes += bytes;
            return true;
        }

        private synchronized void end() {
            if (failure == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(failure);
            }
            if (abandoned) {
                releaseAll();
            }
        }

        /** Releases the frames that nobody will read. */
        private synchronized void abandon() {
            abandoned = true;
            if (done.isDone()) {
                releaseAll();
            }
        }

        private void release(int released) {
            FetchedFrame frame = frames.set(released, null);
            if (frame != null) {
                reservedBytes -= frame.bytes();
                budget.release(frame.bytes());
            }
        }

        private void releaseAll() {
            frames.clear();
            budget.release(reservedBytes);
            reservedBytes = 0;
        }
    }
}
