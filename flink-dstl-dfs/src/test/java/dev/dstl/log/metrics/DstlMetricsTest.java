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

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;

class DstlMetricsTest {

    private final Map<String, Object> registered = new TreeMap<>();
    private final DstlMetrics metrics = new DstlMetrics(new RecordingGroup());

    @Test
    void namesOfFlink_areKept_andOursStandBesideThem() {
        registerGauges();
        assertThat(registered)
                .containsOnlyKeys(
                        "ChangelogStorage.numberOfUploadRequests",
                        "ChangelogStorage.numberOfUploadFailures",
                        "ChangelogStorage.uploadSizes",
                        "ChangelogStorage.uploadLatenciesNanos",
                        "ChangelogStorage.attemptsPerUpload",
                        "ChangelogStorage.totalAttemptsPerUpload",
                        "ChangelogStorage.uploadBatchSizes",
                        "ChangelogStorage.uploadQueueSize",
                        "ChangelogStorage.inFlightBytes",
                        "ChangelogStorage.slowUploadAttempts",
                        "ChangelogStorage.numberOfInlinePersists",
                        "ChangelogStorage.uncheckpointedSegments",
                        "ChangelogStorage.numberOfDiscardedFiles",
                        "ChangelogStorage.numberOfDiscardFailures");
    }

    @Test
    void eventsAreCounted() {
        metrics.attemptStarted();
        metrics.attemptStarted();
        metrics.attemptFailed();
        metrics.segmentCut(7);
        metrics.segmentUploaded(1_000, 5, 2, 3);
        metrics.persistedInline();
        metrics.fileDiscarded();
        metrics.discardFailed();
        assertThat(count("numberOfUploadRequests")).isEqualTo(2);
        assertThat(count("numberOfUploadFailures")).isEqualTo(1);
        assertThat(count("numberOfInlinePersists")).isEqualTo(1);
        assertThat(count("numberOfDiscardedFiles")).isEqualTo(1);
        assertThat(count("numberOfDiscardFailures")).isEqualTo(1);
        assertThat(max("uploadBatchSizes")).isEqualTo(7);
        assertThat(max("uploadSizes")).isEqualTo(1_000);
        assertThat(max("uploadLatenciesNanos")).isEqualTo(5);
        assertThat(max("attemptsPerUpload")).isEqualTo(2);
        assertThat(max("totalAttemptsPerUpload")).isEqualTo(3);
    }

    private void registerGauges() {
        metrics.measureUploadQueue(() -> 1);
        metrics.measureInFlight(() -> 2);
        metrics.measureSlowAttempts(() -> 3);
        metrics.measureUncheckpointedSegments(() -> 4);
    }

    private long count(String name) {
        return ((Counter) registered.get("ChangelogStorage." + name)).getCount();
    }

    private long max(String name) {
        return ((Histogram) registered.get("ChangelogStorage." + name)).getStatistics().getMax();
    }

    private final class RecordingGroup extends UnregisteredMetricsGroup {

        @Override
        public <C extends Counter> C counter(String name, C counter) {
            registered.put(name, counter);
            return counter;
        }

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            registered.put(name, gauge);
            return gauge;
        }

        @Override
        public <H extends Histogram> H histogram(String name, H histogram) {
            registered.put(name, histogram);
            return histogram;
        }
    }
}
