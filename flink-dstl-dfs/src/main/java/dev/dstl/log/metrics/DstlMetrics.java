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

package dev.dstl.log.metrics;

import dev.dstl.log.config.Release;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.ThreadSafeSimpleCounter;

/**
 * All changelog metrics of one job on one TaskManager. Names and meanings of the first group are
 * Flink's. Thread-safe; nothing here waits for a lock that is held for longer than it takes to copy
 * a thousand values.
 *
 * <pre>
 *   ChangelogStorage.
 *     version                       of DSTL, with commit and line of Flink, as text
 *     release                       1, in the group version=..., for reporters without text; both
 *                                   from before the first restore, the others from after it
 *
 *     numberOfUploadRequests        attempts that began
 *     numberOfUploadFailures        attempts that returned a failure
 *     uploadSizes                   bytes of a segment
 *     uploadLatenciesNanos          from the beginning to the end of a successful attempt
 *     attemptsPerUpload             which attempt won
 *     totalAttemptsPerUpload        attempts that began before one won
 *     uploadBatchSizes              batches in a segment
 *     uploadQueueSize               batches that wait for their segment to be rolled
 *
 *     inFlightBytes                 sealed but not durable, see upload.max-in-flight
 *     storeHealth                   0 healthy, 1 recovered after an outage, 2 degraded, 3 outage
 *     numberOfThrottledUploads      failed attempts that the store answered with "slow down"
 *     slowUploadAttempts            attempts that still run and are timed out, or were hedged
 *     abandonedUploadAttempts       cancelled attempts whose threads have not come back
 *     numberOfCancelledUploads      attempts cancelled because another one was faster, or they hung
 *     numberOfExtraUploadRequests   attempts that began beside a live one of the same segment
 *     numberOfStorePings            small requests that show whether the store answers
 *     numberOfHedgedUploads         those of them that began before the first was timed out
 *     numberOfHedgeWins             those of them that were faster
 *     numberOfInlinePersists        persists that waited for no request, see inline-threshold
 *     numberOfLocalCopies           segments copied to the local disk, see local recovery
 *     numberOfLocalCopyFailures     segments not copied, or copies that could not be read
 *     numberOfCompactions           runs compacted into one, see compaction.min-runs
 *     numberOfCompactionFailures    compactions that failed; they are retried later
 *     numberOfRecentSegmentReads    segments that compaction read from memory
 *     numberOfRecentSegmentMisses   segments that it read from the local disk or the store instead
 *     recentSegmentBytes            segments kept in memory for compaction, part of memoryBytes
 *     numberOfReadRetries           reads of compactions that failed and were retried
 *     hangingCompactionReads        abandoned reads of compactions that still hang
 *     uncheckpointedSegments        durable segments that no checkpoint contains yet
 *     numberOfDiscardedFiles        files deleted: lost attempts and segments never checkpointed
 *     numberOfDiscardFailures       files that could not be deleted and were left behind
 * </pre>
 */
public final class DstlMetrics {

    private static final String PREFIX = "ChangelogStorage.";

    private final MetricGroup group;
    private final LongSupplier clock;
    private final Counter uploadRequests;
    private final Counter uploadFailures;
    private final Histogram uploadSizes;
    private final Histogram uploadLatenciesNanos;
    private final Histogram attemptsPerUpload;
    private final Histogram totalAttemptsPerUpload;
    private final Histogram uploadBatchSizes;
    private final Counter throttledUploads;
    private final Counter cancelledUploads;
    private final Counter extraUploadRequests;
    private final Counter storePings;
    private final Counter hedgedUploads;
    private final Counter hedgeWins;
    private final Counter inlinePersists;
    private final Counter localCopies;
    private final Counter localCopyFailures;
    private final Counter compactions;
    private final Counter compactionFailures;
    private final Counter recentSegmentReads;
    private final Counter recentSegmentMisses;
    private final Counter readRetries;
    private final Counter discardedFiles;
    private final Counter discardFailures;

    /**
     * Registers {@code version} and {@code release} with {@code group}, which also unregisters them
     * when it is closed.
     */
    public static void registerRelease(MetricGroup group) {
        Release release = Release.current();
        String version = release.toString();
        group.<String, Gauge<String>>gauge(PREFIX + "version", () -> version);
        group.addGroup("version", release.version())
                .<Integer, Gauge<Integer>>gauge(PREFIX + "release", () -> 1);
    }

    /**
     * Registers all other metrics with {@code group}, which also unregisters them when it is
     * closed.
     */
    public DstlMetrics(MetricGroup group) {
        this(group, System::nanoTime);
    }

    /**
     * Registers the same metrics.
     *
     * @param clock current time in nanoseconds; histograms forget by it
     */
    DstlMetrics(MetricGroup group, LongSupplier clock) {
        this.group = group;
        this.clock = clock;
        uploadRequests = counter("numberOfUploadRequests");
        uploadFailures = counter("numberOfUploadFailures");
        uploadSizes = histogram("uploadSizes");
        uploadLatenciesNanos = histogram("uploadLatenciesNanos");
        attemptsPerUpload = histogram("attemptsPerUpload");
        totalAttemptsPerUpload = histogram("totalAttemptsPerUpload");
        uploadBatchSizes = histogram("uploadBatchSizes");
        throttledUploads = counter("numberOfThrottledUploads");
        cancelledUploads = counter("numberOfCancelledUploads");
        extraUploadRequests = counter("numberOfExtraUploadRequests");
        storePings = counter("numberOfStorePings");
        hedgedUploads = counter("numberOfHedgedUploads");
        hedgeWins = counter("numberOfHedgeWins");
        inlinePersists = counter("numberOfInlinePersists");
        localCopies = counter("numberOfLocalCopies");
        localCopyFailures = counter("numberOfLocalCopyFailures");
        compactions = counter("numberOfCompactions");
        compactionFailures = counter("numberOfCompactionFailures");
        recentSegmentReads = counter("numberOfRecentSegmentReads");
        recentSegmentMisses = counter("numberOfRecentSegmentMisses");
        readRetries = counter("numberOfReadRetries");
        discardedFiles = counter("numberOfDiscardedFiles");
        discardFailures = counter("numberOfDiscardFailures");
    }

    private Counter counter(String name) {
        return group.counter(PREFIX + name, new ThreadSafeSimpleCounter());
    }

    private Histogram histogram(String name) {
        return group.histogram(PREFIX + name, new RecentValues(clock));
    }

    /** Sets the source of {@code uploadQueueSize}. */
    public void measureUploadQueue(IntSupplier batches) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "uploadQueueSize", batches::getAsInt);
    }

    /** Sets the source of {@code inFlightBytes}. */
    public void measureInFlight(LongSupplier bytes) {
        group.<Long, Gauge<Long>>gauge(PREFIX + "inFlightBytes", bytes::getAsLong);
    }

    /** Sets the sources of {@code memoryBytes} and {@code memoryLimitBytes}. */
    public void measureMemory(LongSupplier bytes, LongSupplier limitBytes) {
        group.<Long, Gauge<Long>>gauge(PREFIX + "memoryBytes", bytes::getAsLong);
        group.<Long, Gauge<Long>>gauge(PREFIX + "memoryLimitBytes", limitBytes::getAsLong);
    }

    /** Sets the source of {@code slowUploadAttempts}. */
    public void measureSlowAttempts(IntSupplier attempts) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "slowUploadAttempts", attempts::getAsInt);
    }

    /** Sets the source of {@code abandonedUploadAttempts}. */
    public void measureAbandonedAttempts(IntSupplier attempts) {
        group.<Integer, Gauge<Integer>>gauge(
                PREFIX + "abandonedUploadAttempts", attempts::getAsInt);
    }

    /** Sets the source of {@code storeHealth}. */
    public void measureStoreHealth(IntSupplier severity) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "storeHealth", severity::getAsInt);
    }

    /** Sets the source of {@code uncheckpointedSegments}. */
    public void measureUncheckpointedSegments(IntSupplier segments) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "uncheckpointedSegments", segments::getAsInt);
    }

    /** Sets the source of {@code hangingCompactionReads}. */
    public void measureHangingCompactionReads(IntSupplier reads) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "hangingCompactionReads", reads::getAsInt);
    }

    /** Sets the source of {@code recentSegmentBytes}. */
    public void measureRecentSegments(LongSupplier bytes) {
        group.<Long, Gauge<Long>>gauge(PREFIX + "recentSegmentBytes", bytes::getAsLong);
    }

    /**
     * Counts a rolled segment.
     *
     * @param batches number of batches in it
     */
    public void segmentRolled(int batches) {
        uploadBatchSizes.update(batches);
    }

    /** Counts an upload attempt that starts. */
    public void attemptStarted() {
        uploadRequests.inc();
    }

    /** Counts an attempt that was cancelled while it was writing. */
    public void attemptCancelled() {
        cancelledUploads.inc();
    }

    /** Counts a ping that is sent, whether the store answers it or not. */
    public void storePinged() {
        storePings.inc();
    }

    /**
     * Counts an attempt that starts while another attempt for the same segment is live.
     *
     * @param hedge whether the other attempt has not timed out
     */
    public void extraAttemptStarted(boolean hedge) {
        extraUploadRequests.inc();
        if (hedge) {
            hedgedUploads.inc();
        }
    }

    /** Counts a segment that a hedged attempt made durable. */
    public void hedgeWon() {
        hedgeWins.inc();
    }

    /**
     * Counts a failed attempt.
     *
     * @param throttled whether the store rejected it because of too many requests
     */
    public void attemptFailed(boolean throttled) {
        uploadFailures.inc();
        if (throttled) {
            throttledUploads.inc();
        }
    }

    /**
     * Counts a segment that became durable.
     *
     * @param winner number of the successful attempt, from 1
     * @param attempts number of attempts that were started
     * @param bytes size of the segment
     * @param attemptNanos duration of the successful attempt
     */
    public void segmentUploaded(long bytes, long attemptNanos, int winner, int attempts) {
        uploadSizes.update(bytes);
        uploadLatenciesNanos.update(attemptNanos);
        attemptsPerUpload.update(winner);
        totalAttemptsPerUpload.update(attempts);
    }

    /**
     * Counts a persist that put state changes inline in its handle instead of waiting for their
     * upload.
     */
    public void persistedInline() {
        inlinePersists.inc();
    }

    /** Counts a successful compaction. */
    public void compacted() {
        compactions.inc();
    }

    /** Counts a failed compaction. */
    public void compactionFailed() {
        compactionFailures.inc();
    }

    /** Counts a segment that was read from memory. */
    public void recentSegmentRead() {
        recentSegmentReads.inc();
    }

    /** Counts a segment that was no longer in memory. */
    public void recentSegmentMissed() {
        recentSegmentMisses.inc();
    }

    /** Counts a failed read that is retried. */
    public void readRetried() {
        readRetries.inc();
    }

    /** Counts a segment that was copied to the local disk. */
    public void localCopyWritten() {
        localCopies.inc();
    }

    /** Counts a segment without a usable local copy. */
    public void localCopyFailed() {
        localCopyFailures.inc();
    }

    /** Counts a deleted file. */
    public void fileDiscarded() {
        discardedFiles.inc();
    }

    /** Counts a file that could not be deleted. */
    public void discardFailed() {
        discardFailures.inc();
    }
}
