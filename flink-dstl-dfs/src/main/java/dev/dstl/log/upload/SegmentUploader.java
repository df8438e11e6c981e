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
 * The resources that the uploads of one storage share: slots, store, timers, names. Thread safe.
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
     * Starts without uploads.
     *
     * @param incarnation see {@link SegmentName}
     * @param threads runs attempts and encodes; may never queue anything
     */
    public SegmentUploader(
            DstlSettings settings,
            JobID jobId,
            String incarnation,
            SegmentStore store,
            SegmentRegistry registry,
            Timers timers,
            Executor threads,
            DstlMetrics metrics) {
        this(
                settings,
                jobId,
                incarnation,
                store,
                registry,
                timers,
                threads,
                metrics,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Starts without uploads.
     *
     * @param random in {@code [0, 1)}; called by any thread
     */
    public SegmentUploader(
            DstlSettings settings,
            JobID jobId,
            String incarnation,
            SegmentStore store,
            SegmentRegistry registry,
            Timers timers,
            Executor threads,
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
        this.abandoned = new AbandonedAttempts(threads, timers, registry, metrics);
        this.ping =
                new StorePing(
                        store, timers, health, hedging.budget(), slots, metrics, this::pingIsOver);
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
     * The advice for the user in an outage.
     *
     * @param bytes gives what waits for the store
     */
    public void reportWaiting(LongSupplier bytes) {
        health.reportWaiting(bytes);
    }

    /** A new upload, not yet started. */
    public SegmentUpload upload(SegmentSource source) {
        return new SegmentUpload(this, nextSequence.getAndIncrement(), source);
    }

    /**
     * Encodes batches that are not uploaded. Waits for no upload.
     *
     * @param batches owned by this call, which releases them
     * @param whenDone called on a thread of the log, with the segment or with what prevented it
     */
    public void encode(List<LogBatch> batches, BiConsumer<EncodedSegment, Throwable> whenDone) {
        encoders.encode(batches, whenDone);
    }

    /** Whether an attempt may get a hedge beside it, which is then paid for. */
    boolean mayHedge(UploadAttempt slow) {
        return !health.isThrottled()
                && mayAbandon()
                && !live.areOthersSlow(slow)
                && hedging.budget().trySpend(slow.bytes());
    }

    /** Whether one more thread may hang in the client of the store. */
    boolean mayAbandon() {
        return abandoned.hasRoom();
    }

    /**
     * Learns from an attempt that succeeded, whether it won or not.
     *
     * @return attempts of other segments that are overtaken
     */
    List<UploadAttempt> succeeded(UploadAttempt attempt, long bytes, long nanos) {
        hedging.took(bytes, nanos);
        timeouts.succeeded(bytes, nanos);
        health.succeeded();
        UploadAttempt probe = probing.probe();
        if (attempt.isTimedOut() && probe != null && probe != attempt) {
            // Connections are alive, and slow: the attempt beside the probe will get there as well.
            probe.withdraw();
        }
        return live.succeeded(attempt, timers.nanoTime());
    }

    /** No thread could be started for an attempt, which is made again. */
    void notStarted(UploadAttempt attempt, Throwable cause) {
        if (threadsMissing.compareAndSet(false, true)) {
            LOG.warn(
                    "No thread could be started to upload {}; it is tried again and nothing is"
                            + " lost. Raise the limit of threads of the TaskManager's process."
                            + " Said once.",
                    attempt,
                    cause);
        }
    }

    /**
     * Releases encoders that nobody needed for a while.
     *
     * @param nowNanos of the clock of the timers
     */
    public void trimIdle(long nowNanos, long periodNanos) {
        encoders.trim(nowNanos, periodNanos);
    }

    /** Releases all encoders that nobody needs just now. */
    public void dropIdle() {
        encoders.drop();
    }

    SegmentName name(long sequence, int attempt) {
        return new SegmentName(jobId, incarnation, sequence, attempt);
    }

    /** In {@code [0, 1)}. */
    double random() {
        return random.getAsDouble();
    }

    /** No attempt begins any more; those that run are not touched. */
    @Override
    public void close() {
        health.close();
        slots.close();
        encoders.close();
    }
}
