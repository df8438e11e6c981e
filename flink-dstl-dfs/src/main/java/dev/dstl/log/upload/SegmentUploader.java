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
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import org.apache.flink.api.common.JobID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources that the uploads of one storage share: slots, store, timers, names. Thread-safe.
 * Owns none of them.
 */
public final class SegmentUploader implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentUploader.class);

    final SegmentStore store;
    final SegmentRegistry registry;
    final Timers timers;
    final DstlMetrics metrics;
    final RetryPolicy policy;
    final Hedging hedging;
    final StoreHealth health;
    final AttemptSlots slots;
    final AttemptTimeouts timeouts;
    final AbandonedAttempts abandoned;
    final LiveAttempts<UploadAttempt> live = new LiveAttempts<>();
    final StorePing ping;
    final Probing<UploadAttempt> probing;

    final Encoders encoders;

    private final JobID jobId;
    private final String incarnation;
    private final DoubleSupplier random;
    private final AtomicBoolean threadsMissing = new AtomicBoolean();
    private final AtomicLong nextSequence = new AtomicLong(1);

    /**
     * Creates an uploader.
     *
     * @param incarnation see {@link SegmentName}
     * @param threads runs attempts and encoding; must never queue tasks
     * @param closers closes streams of cancelled attempts, also after {@code threads} takes no more
     *     tasks; must never queue tasks
     */
    public SegmentUploader(
            DstlSettings settings,
            JobID jobId,
            String incarnation,
            SegmentStore store,
            SegmentRegistry registry,
            Timers timers,
            Executor threads,
            Executor closers,
            DstlMetrics metrics) {
        this(
                settings,
                jobId,
                incarnation,
                store,
                registry,
                timers,
                threads,
                closers,
                metrics,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Creates an uploader.
     *
     * @param incarnation see {@link SegmentName}
     * @param threads runs attempts and encoding; must never queue tasks
     * @param closers as in the other constructor
     * @param random returns values in {@code [0, 1)}; called on any thread
     */
    public SegmentUploader(
            DstlSettings settings,
            JobID jobId,
            String incarnation,
            SegmentStore store,
            SegmentRegistry registry,
            Timers timers,
            Executor threads,
            Executor closers,
            DstlMetrics metrics,
            DoubleSupplier random) {
        this.store = store;
        this.registry = registry;
        this.timers = timers;
        this.metrics = metrics;
        this.policy = new RetryPolicy(settings);
        this.hedging = new Hedging(settings);
        this.health = new StoreHealth(timers, settings);
        this.slots =
                new AttemptSlots(threads, settings.uploadThreads(), settings.maxSlowAttempts());
        this.timeouts = new AttemptTimeouts(policy);
        this.abandoned = new AbandonedAttempts(closers, timers::nanoTime, registry, metrics);
        this.ping =
                new StorePing(
                        store, timers, health, hedging.budget(), slots, metrics, this::pingIsOver);
        health.pingWith(ping::send);
        this.probing = new Probing<>(policy, timeouts, health, abandoned, live, ping, timers);
        this.encoders =
                new Encoders(
                        settings.compressionEnabled() ? SegmentCodec.LZ4 : SegmentCodec.NONE,
                        threads,
                        timers,
                        ProcessMemory.shared());
        this.jobId = jobId;
        this.incarnation = incarnation;
        this.random = random;
        metrics.measureSlowAttempts(slots::slowCount);
        metrics.measureAbandonedAttempts(abandoned::count);
        metrics.measureStoreHealth(health::severity);
    }

    private void pingIsOver() {
        probing.consider();
    }

    /**
     * Sets the source of the number of waiting bytes, which log lines about an outage contain.
     *
     * @param bytes gives what waits for the store
     */
    public void reportWaiting(LongSupplier bytes) {
        health.reportWaiting(bytes);
    }

    /** Creates an upload that is not started yet. */
    public SegmentUpload upload(SegmentSource source) {
        return new SegmentUpload(this, nextSequence.getAndIncrement(), source);
    }

    /**
     * Encodes batches that travel inline. Waits for no upload.
     *
     * @param batches owned and released by this method, unless it throws
     * @param whenDone called on a thread of the changelog storage with the segment or a failure
     */
    public void encode(List<LogBatch> batches, BiConsumer<EncodedSegment, Throwable> whenDone) {
        encoders.encode(batches, whenDone);
    }

    /** Returns whether an attempt may get a hedge; if so, the budget has paid for it. */
    boolean mayHedge(UploadAttempt slow) {
        return !health.isThrottled()
                && mayAbandon()
                && !live.areOthersSlow(slow)
                && hedging.budget().trySpend(slow.bytes());
    }

    /** Returns whether one more thread may hang in the file system client. */
    boolean mayAbandon() {
        return abandoned.hasRoom();
    }

    /**
     * Updates the statistics with an attempt that succeeded, whether it won or not.
     *
     * @param bytes size of the segment
     * @param nanos duration of the attempt
     * @return attempts for other segments that are overtaken
     */
    List<UploadAttempt> succeeded(UploadAttempt attempt, long bytes, long nanos) {
        hedging.took(bytes, nanos);
        timeouts.succeeded(bytes, nanos);
        health.succeeded();
        UploadAttempt probe = probing.probe();
        if (attempt.isTimedOut() && probe != null && probe != attempt) {
            // Connections are slow but alive: the attempt beside the probe will succeed as well.
            probe.withdraw();
        }
        return live.succeeded(attempt, timers.nanoTime());
    }

    /** Reports that no thread could be started for an attempt, which will be retried. */
    void notStarted(UploadAttempt attempt, Throwable cause) {
        if (threadsMissing.compareAndSet(false, true)) {
            LOG.warn(
                    "No thread could be started to upload {}; it is retried and nothing is"
                            + " lost. Raise the limit of threads of the TaskManager's process."
                            + " Logged once.",
                    attempt,
                    cause);
        }
    }

    /**
     * Drops encoders that were not needed since the last call.
     *
     * @param nowNanos current time of the timers' clock
     */
    public void trimIdle(long nowNanos, long periodNanos) {
        encoders.trim(nowNanos, periodNanos);
    }

    /** Drops all idle encoders. */
    public void dropIdle() {
        encoders.drop();
    }

    SegmentName name(long sequence, int attempt) {
        return new SegmentName(jobId, incarnation, sequence, attempt);
    }

    /** Returns a random value in {@code [0, 1)}. */
    double random() {
        return random.getAsDouble();
    }

    /** Starts no further attempts; running ones continue. */
    @Override
    public void close() {
        health.close();
        slots.close();
        encoders.close();
    }
}
