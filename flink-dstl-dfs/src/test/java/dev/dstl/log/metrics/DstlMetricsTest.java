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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.Release;
import dev.dstl.log.testing.RecordedMetrics;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.metrics.Histogram;
import org.junit.jupiter.api.Test;

class DstlMetricsTest {

    private final RecordedMetrics recorded = new RecordedMetrics();
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final DstlMetrics metrics = new DstlMetrics(recorded, nanos::get);

    @Test
    void namesOfFlink_areKept_andOursStandBesideThem() {
        DstlMetrics.registerRelease(recorded);
        registerGauges();
        assertThat(recorded.names())
                .containsExactlyInAnyOrder(
                        "ChangelogStorage.numberOfUploadRequests",
                        "ChangelogStorage.numberOfUploadFailures",
                        "ChangelogStorage.uploadSizes",
                        "ChangelogStorage.uploadLatenciesNanos",
                        "ChangelogStorage.attemptsPerUpload",
                        "ChangelogStorage.totalAttemptsPerUpload",
                        "ChangelogStorage.uploadBatchSizes",
                        "ChangelogStorage.uploadQueueSize",
                        "ChangelogStorage.inFlightBytes",
                        "ChangelogStorage.memoryBytes",
                        "ChangelogStorage.memoryLimitBytes",
                        "ChangelogStorage.storeHealth",
                        "ChangelogStorage.version",
                        "version=" + Release.current().version() + ".ChangelogStorage.release",
                        "ChangelogStorage.numberOfThrottledUploads",
                        "ChangelogStorage.slowUploadAttempts",
                        "ChangelogStorage.abandonedUploadAttempts",
                        "ChangelogStorage.numberOfCancelledUploads",
                        "ChangelogStorage.numberOfExtraUploadRequests",
                        "ChangelogStorage.numberOfStorePings",
                        "ChangelogStorage.numberOfHedgedUploads",
                        "ChangelogStorage.numberOfHedgeWins",
                        "ChangelogStorage.numberOfInlinePersists",
                        "ChangelogStorage.numberOfCompactions",
                        "ChangelogStorage.numberOfCompactionFailures",
                        "ChangelogStorage.numberOfRecentSegmentReads",
                        "ChangelogStorage.numberOfRecentSegmentMisses",
                        "ChangelogStorage.recentSegmentBytes",
                        "ChangelogStorage.numberOfReadRetries",
                        "ChangelogStorage.hangingCompactionReads",
                        "ChangelogStorage.numberOfLocalCopies",
                        "ChangelogStorage.numberOfLocalCopyFailures",
                        "ChangelogStorage.uncheckpointedSegments",
                        "ChangelogStorage.numberOfDiscardedFiles",
                        "ChangelogStorage.numberOfDiscardFailures");
    }

    @Test
    void eventsAreCounted() {
        metrics.attemptStarted();
        metrics.attemptStarted();
        metrics.extraAttemptStarted(true);
        metrics.extraAttemptStarted(false);
        metrics.storePinged();
        metrics.attemptCancelled();
        metrics.hedgeWon();
        metrics.attemptFailed(false);
        metrics.attemptFailed(true);
        metrics.segmentRolled(7);
        metrics.segmentUploaded(1_000, 5, 2, 3);
        metrics.persistedInline();
        metrics.localCopyWritten();
        metrics.localCopyFailed();
        metrics.recentSegmentRead();
        metrics.recentSegmentMissed();
        metrics.fileDiscarded();
        metrics.discardFailed();
        assertThat(recorded.count("numberOfUploadRequests")).isEqualTo(2);
        assertThat(recorded.count("numberOfUploadFailures")).isEqualTo(2);
        assertThat(recorded.count("numberOfThrottledUploads")).isEqualTo(1);
        assertThat(recorded.count("numberOfExtraUploadRequests")).isEqualTo(2);
        assertThat(recorded.count("numberOfStorePings")).isEqualTo(1);
        assertThat(recorded.count("numberOfHedgedUploads")).isEqualTo(1);
        assertThat(recorded.count("numberOfCancelledUploads")).isEqualTo(1);
        assertThat(recorded.count("numberOfHedgeWins")).isEqualTo(1);
        assertThat(recorded.count("numberOfInlinePersists")).isEqualTo(1);
        assertThat(recorded.count("numberOfLocalCopies")).isEqualTo(1);
        assertThat(recorded.count("numberOfLocalCopyFailures")).isEqualTo(1);
        assertThat(recorded.count("numberOfRecentSegmentReads")).isEqualTo(1);
        assertThat(recorded.count("numberOfRecentSegmentMisses")).isEqualTo(1);
        assertThat(recorded.count("numberOfDiscardedFiles")).isEqualTo(1);
        assertThat(recorded.count("numberOfDiscardFailures")).isEqualTo(1);
        assertThat(recorded.max("uploadBatchSizes")).isEqualTo(7);
        assertThat(recorded.max("uploadSizes")).isEqualTo(1_000);
        assertThat(recorded.max("uploadLatenciesNanos")).isEqualTo(5);
        assertThat(recorded.max("attemptsPerUpload")).isEqualTo(2);
        assertThat(recorded.max("totalAttemptsPerUpload")).isEqualTo(3);
    }

    @Test
    void uploadsThatWereSlowTenMinutesAgo_areForgotten_howeverFewThereAreSince() {
        for (int upload = 0; upload < 100; upload++) {
            metrics.segmentUploaded(1_000, 5_000_000_000L, 1, 1);
        }
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(5));
        metrics.segmentUploaded(1_000, 50_000_000, 1, 1);
        assertThat(latencies().getStatistics().getQuantile(0.99)).isEqualTo(5_000_000_000.0);

        nanos.addAndGet(TimeUnit.MINUTES.toNanos(5));

        assertThat(latencies().getStatistics().getQuantile(0.99)).isEqualTo(50_000_000.0);
        assertThat(latencies().getStatistics().size()).isEqualTo(1);
        assertThat(latencies().getCount()).as("of all").isEqualTo(101);
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(5));
        assertThat(latencies().getStatistics().getQuantile(0.99)).isNaN();
    }

    @Test
    void ofManyUploads_theLatestThousandCount() {
        for (int upload = 1; upload <= 2_345; upload++) {
            metrics.segmentUploaded(1_000, upload, 1, 1);
        }
        assertThat(latencies().getStatistics().size()).isEqualTo(1_000);
        assertThat(latencies().getStatistics().getMin()).isEqualTo(1_346);
        assertThat(latencies().getStatistics().getMax()).isEqualTo(2_345);
        assertThat(latencies().getCount()).isEqualTo(2_345);
    }

    private Histogram latencies() {
        return recorded.histogram("uploadLatenciesNanos");
    }

    private void registerGauges() {
        metrics.measureUploadQueue(() -> 1);
        metrics.measureInFlight(() -> 2);
        metrics.measureAbandonedAttempts(() -> 0);
        metrics.measureMemory(() -> 2, () -> 3);
        metrics.measureRecentSegments(() -> 1);
        metrics.measureSlowAttempts(() -> 3);
        metrics.measureHangingCompactionReads(() -> 0);
        metrics.measureUncheckpointedSegments(() -> 4);
        metrics.measureStoreHealth(() -> 2);
    }
}
