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
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

/**
 * Every metric of the log of one job on one TaskManager. Names and meanings of the first group are
 * Flink's. Thread safe; nothing here waits for a lock that is held for longer than an addition.
 *
 * <pre>
 *   ChangelogStorage.
 *     version                       of DSTL, with commit and line of Flink, as text
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
 *     numberOfStorePings            small requests that showed that the store answers
 *     numberOfHedgedUploads         those of them that began before the first was timed out
 *     numberOfHedgeWins             those of them that were faster
 *     numberOfInlinePersists        persists that waited for no request, see inline-threshold
 *     numberOfLocalCopies           segments copied to the local disk, see local recovery
 *     numberOfLocalCopyFailures     segments not copied, or copies that could not be read
 *     numberOfCompactions           runs compacted into one, see compaction.min-runs
 *     numberOfCompactionFailures    compactions given up; they are retried later
 *     numberOfRecentSegmentReads    segments that compaction read from memory
 *     numberOfRecentSegmentMisses   segments that it read from the local disk or the store instead
 *     recentSegmentBytes            segments kept in memory for compaction, part of memoryBytes
 *     numberOfReadRetries           reads of compactions that failed and were retried
 *     hangingCompactionReads        reads of compactions that were given up and do not end
 *     uncheckpointedSegments        durable segments that no checkpoint contains yet
 *     numberOfDiscardedFiles        files deleted: lost attempts and segments never checkpointed
 *     numberOfDiscardFailures       files that could not be deleted and were left behind
 * </pre>
 */
public final class DstlMetrics {

    private static final String PREFIX = "ChangelogStorage.";
    private static final int HISTOGRAM_WINDOW = 1000;

    private final MetricGroup group;
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

    /** Registers the metrics; they live as long as the group. */
    public DstlMetrics(MetricGroup group) {
        this.group = group;
        String version = Release.current().toString();
        group.<String, Gauge<String>>gauge(PREFIX + "version", () -> version);
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
        return group.histogram(PREFIX + name, new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
    }

    /** Where {@code uploadQueueSize} comes from. */
    public void measureUploadQueue(IntSupplier batches) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "uploadQueueSize", batches::getAsInt);
    }

    /** Where {@code inFlightBytes} comes from. */
    public void measureInFlight(LongSupplier bytes) {
        group.<Long, Gauge<Long>>gauge(PREFIX + "inFlightBytes", bytes::getAsLong);
    }

    /** Where {@code memoryBytes} and {@code memoryLimitBytes} come from. */
    public void measureMemory(LongSupplier bytes, LongSupplier limitBytes) {
        group.<Long, Gauge<Long>>gauge(PREFIX + "memoryBytes", bytes::getAsLong);
        group.<Long, Gauge<Long>>gauge(PREFIX + "memoryLimitBytes", limitBytes::getAsLong);
    }

    /** Where {@code slowUploadAttempts} comes from. */
    public void measureSlowAttempts(IntSupplier attempts) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "slowUploadAttempts", attempts::getAsInt);
    }

    /** Where {@code abandonedUploadAttempts} comes from. */
    public void measureAbandonedAttempts(IntSupplier attempts) {
        group.<Integer, Gauge<Integer>>gauge(
                PREFIX + "abandonedUploadAttempts", attempts::getAsInt);
    }

    /** Where {@code storeHealth} comes from. */
    public void measureStoreHealth(IntSupplier severity) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "storeHealth", severity::getAsInt);
    }

    /** Where {@code uncheckpointedSegments} comes from. */
    public void measureUncheckpointedSegments(IntSupplier segments) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "uncheckpointedSegments", segments::getAsInt);
    }

    /** Where {@code hangingCompactionReads} comes from. */
    public void measureHangingCompactionReads(IntSupplier reads) {
        group.<Integer, Gauge<Integer>>gauge(PREFIX + "hangingCompactionReads", reads::getAsInt);
    }

    /** Where {@code recentSegmentBytes} comes from. */
    public void measureRecentSegments(LongSupplier bytes) {
        group.<Long, Gauge<Long>>gauge(PREFIX + "recentSegmentBytes", bytes::getAsLong);
    }

    /** A segment was rolled. */
    public void segmentRolled(int batches) {
        uploadBatchSizes.update(batches);
    }

    /** An attempt began. */
    public void attemptStarted() {
        uploadRequests.inc();
    }

    /** An attempt was cancelled while it wrote. */
    public void attemptCancelled() {
        cancelledUploads.inc();
    }

    /** The store answered a ping. */
    public void storePinged() {
        storePings.inc();
    }

    /** An attempt began beside another one. */
    public void extraAttemptStarted(boolean hedge) {
        extraUploadRequests.inc();
        if (hedge) {
            hedgedUploads.inc();
        }
    }

    /** An attempt that began as a hedge made its segment durable. */
    public void hedgeWon() {
        hedgeWins.inc();
    }

    /**
     * An attempt returned a failure.
     *
     * @param throttled whether the store asked for fewer requests
     */
    public void attemptFailed(boolean throttled) {
        uploadFailures.inc();
        if (throttled) {
            throttledUploads.inc();
        }
    }

    /**
     * A segment is durable.
     *
     * @param winner which attempt it was, from 1
     * @param attempts how many had begun
     */
    public void segmentUploaded(long bytes, long attemptNanos, int winner, int attempts) {
        uploadSizes.update(bytes);
        uploadLatenciesNanos.update(attemptNanos);
        attemptsPerUpload.update(winner);
        totalAttemptsPerUpload.update(attempts);
    }

    /** A persist completed with what is not durable in its handle. */
    public void persistedInline() {
        inlinePersists.inc();
    }

    /** Some batches became one. */
    public void compacted() {
        compactions.inc();
    }

    /** Some batches did not become one. */
    public void compactionFailed() {
        compactionFailures.inc();
    }

    /** A segment was read as it is kept in memory. */
    public void recentSegmentRead() {
        recentSegmentReads.inc();
    }

    /** A segment was not kept in memory any more. */
    public void recentSegmentMissed() {
        recentSegmentMisses.inc();
    }

    /** A read failed and is tried again. */
    public void readRetried() {
        readRetries.inc();
    }

    /** A segment was copied to the local disk. */
    public void localCopyWritten() {
        localCopies.inc();
    }

    /** A segment has no local copy. */
    public void localCopyFailed() {
        localCopyFailures.inc();
    }

    /** A file was deleted. */
    public void fileDiscarded() {
        discardedFiles.inc();
    }

    /** A file was left behind. */
    public void discardFailed() {
        discardFailures.inc();
    }
}
