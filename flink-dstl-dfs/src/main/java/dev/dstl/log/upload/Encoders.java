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

package dev.dstl.log.upload;

import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.memory.IdleObjects;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.SegmentEncoder;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The encoders of one storage, which are reused for their scratch memory, and a few threads that
 * encode inline segments and never wait for an upload. Thread-safe; no method blocks longer than
 * encoding takes.
 */
final class Encoders {

    /** Maximum number of encoding threads, each of which exists only while there is work. */
    private static final int MAX_LANES = 4;

    private static final long RETRY_MILLIS = 500;

    private static final Logger LOG = LoggerFactory.getLogger(Encoders.class);

    private final SegmentCodec codec;
    private final Executor threads;
    private final Timers timers;

    /**
     * Limits concurrent encodings in the process to the number of processors: more would not be
     * faster, and each holds its segment twice.
     */
    private static final Semaphore ENCODING =
            new Semaphore(Math.max(2, Runtime.getRuntime().availableProcessors()));

    private static final int MAX_IDLE = 16;

    private final IdleObjects<SegmentEncoder> idle;

    private final ConcurrentLinkedQueue<Job> jobs = new ConcurrentLinkedQueue<>();
    private final AtomicInteger lanes = new AtomicInteger();

    private volatile boolean closed;

    /**
     * Creates encoders.
     *
     * @param threads runs encoding threads; must never queue them
     */
    Encoders(SegmentCodec codec, Executor threads, Timers timers, ProcessMemory memory) {
        this(
                codec,
                threads,
                timers,
                new IdleObjects<>(MAX_IDLE, SegmentEncoder::keptBytes, memory));
    }

    Encoders(
            SegmentCodec codec, Executor threads, Timers timers, IdleObjects<SegmentEncoder> idle) {
        this.codec = codec;
        this.threads = threads;
        this.timers = timers;
        this.idle = idle;
    }

    /**
     * Encodes on this thread, once enough other encodings of the process have ended.
     *
     * @param work called with an encoder; must do nothing else that takes long
     */
    EncodedSegment encodeHere(Function<SegmentEncoder, EncodedSegment> work) {
        ENCODING.acquireUninterruptibly();
        try {
            SegmentEncoder kept = idle.poll();
            SegmentEncoder encoder = kept == null ? new SegmentEncoder(codec) : kept;
            EncodedSegment encoded = work.apply(encoder);
            // Not an encoder that failed: its scratch memory is in an unknown state.
            keep(encoder);
            return encoded;
        } finally {
            ENCODING.release();
        }
    }

    /** Never fails, since what was encoded is released and cannot be encoded again. */
    private void keep(SegmentEncoder encoder) {
        try {
            idle.offer(encoder);
        } catch (Throwable t) {
            LOG.debug("An encoder is not kept", t);
        }
    }

    /** Drops idle encoders, see {@link IdleObjects#trim}. */
    void trim(long nowNanos, long periodNanos) {
        idle.trim(nowNanos, periodNanos);
    }

    /** Drops all idle encoders. */
    void drop() {
        idle.drop();
    }

    /**
     * Encodes on another thread.
     *
     * @param batches owned and released by this method, unless it throws
     * @param whenDone called on that thread with the segment or a failure; called on the calling
     *     thread if the storage is closed
     */
    void encode(List<LogBatch> batches, BiConsumer<EncodedSegment, Throwable> whenDone) {
        jobs.add(new Job(batches, whenDone));
        try {
            openLane();
        } catch (Throwable t) {
            // The job is no longer the caller's; it is run or failed with the next one.
            LOG.debug("No thread was started to encode", t);
        }
    }

    private void openLane() {
        for (int open = lanes.get(); open < MAX_LANES; open = lanes.get()) {
            if (lanes.compareAndSet(open, open + 1)) {
                try {
                    threads.execute(this::drain);
                } catch (Throwable failure) {
                    notOpened(failure);
                }
                return;
            }
        }
    }

    /**
     * Fails the waiting jobs because the storage is closed, or because no thread could be started
     * and no retry scheduled, unless a running thread will take them.
     */
    private void notOpened(Throwable failure) {
        boolean others = lanes.decrementAndGet() > 0;
        if (closed) {
            failAll(failure);
        } else if (!others) {
            LOG.debug("No thread could be started to encode, which is retried", failure);
            try {
                timers.schedule(this::openLaneIfNeeded, RETRY_MILLIS);
            } catch (Throwable noMemory) {
                failAll(failure);
            }
        }
    }

    private void failAll(Throwable failure) {
        for (Job job = jobs.poll(); job != null; job = jobs.poll()) {
            job.fail(failure);
        }
    }

    private void openLaneIfNeeded() {
        if (!jobs.isEmpty()) {
            openLane();
        }
    }

    private void drain() {
        try {
            for (Job job = jobs.poll(); job != null; job = jobs.poll()) {
                job.run();
            }
        } finally {
            lanes.decrementAndGet();
            // A job may have been added after the last check, while this lane counted as open.
            openLaneIfNeeded();
        }
    }

    /** Drops all idle encoders. Jobs that no thread takes from now on fail. */
    void close() {
        closed = true;
        idle.close();
        if (lanes.get() == 0) {
            failAll(new RejectedExecutionException("The changelog storage is closed"));
        }
    }

    private final class Job {
        private final List<LogBatch> batches;
        private final BiConsumer<EncodedSegment, Throwable> whenDone;

        private Job(List<LogBatch> batches, BiConsumer<EncodedSegment, Throwable> whenDone) {
            this.batches = batches;
            this.whenDone = whenDone;
        }

        private void run() {
            EncodedSegment encoded;
            try {
                encoded = encodeHere(encoder -> encoder.encode(batches));
            } catch (Throwable t) {
                fail(t);
                return;
            }
            batches.forEach(LogBatch::release);
            whenDone.accept(encoded, null);
        }

        private void fail(Throwable cause) {
            batches.forEach(LogBatch::release);
            whenDone.accept(null, cause);
        }
    }
}
