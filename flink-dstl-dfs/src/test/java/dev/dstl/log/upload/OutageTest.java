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

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.persistAll;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.WriteFault;
import dev.dstl.log.writer.DstlLogWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Long outages of the store, and a store that asks for fewer requests. */
class OutageTest {

    private static final int RECORD = 100;
    private static final int SEAL = 1 << 10;
    private static final int LIMIT = 1 << 14;

    private final LogFixture log =
            LogFixture.onCallingThread(
                    new Configuration()
                            .set(DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD, new MemorySize(SEAL))
                            .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(2 * SEAL))
                            .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(LIMIT)));
    private final DstlLogWriter writer = log.writer();
    private final LogLines lines = new LogLines();

    @AfterEach
    void close() {
        lines.close();
        writer.close();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }

    @Test
    void outageOfAnHour_stopsTheTaskAtTheLimit_losesNothing_andSaysFourLines() throws Exception {
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        List<Future<SnapshotResult<ChangelogStateHandleStreamImpl>>> persists = new ArrayList<>();
        List<String> appended = new ArrayList<>();
        for (int second = 0; second < 3_600; second++) {
            for (int i = 0; i < 5 && log.budget().isAvailable(); i++) {
                appendRecord(appended);
            }
            if (second % 60 == 0) {
                persists.add(persistAll(writer));
            }
            log.timers().advanceMillis(1_000);
            assertThat(log.budget().reservedBytes()).isLessThan(LIMIT + 2 * SEAL);
        }
        assertThat(log.budget().isAvailable()).isFalse();
        assertThat(log.metrics().value("storeHealth")).isEqualTo(3);
        assertThat((long) log.metrics().value("inFlightBytes")).isGreaterThanOrEqualTo(LIMIT);
        assertThat(persists).noneMatch(Future::isDone);

        log.store().failAlways(WriteFault.NONE);
        log.timers().advanceMillis(10_000);

        assertThat(log.budget().isAvailable()).isTrue();
        assertThat(persists).allMatch(Future::isDone);
        appendRecord(appended);
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> next = persistAll(writer);
        log.passLinger();
        assertThat(texts(handleOf(next))).isEqualTo(appended);
        log.timers().advanceMillis(2 * StoreHealth.WINDOW_MILLIS);
        assertThat(log.metrics().value("storeHealth")).isEqualTo(0);
        assertThat(lines.containing(""))
                .as("of %s failures", log.metrics().count("numberOfUploadFailures"))
                .hasSize(4);
    }

    /** As when the keyed tasks of the job fail, and others keep its slots. */
    @Test
    void outageWhoseUploadsAreAbandoned_endsAllTheSame() {
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        append(writer, "x".repeat(2 * SEAL));
        log.timers().advanceMillis(60_000);
        assertThat(log.metrics().value("storeHealth")).isEqualTo(3);

        writer.truncate(writer.nextSequenceNumber());
        log.store().failAlways(WriteFault.NONE);
        log.timers().advanceMillis(2 * StoreHealth.PING_MILLIS + StoreHealth.WINDOW_MILLIS);

        assertThat(log.metrics().value("storeHealth")).isEqualTo(0);
        assertThat(log.metrics().count("numberOfStorePings")).isEqualTo(1);
    }

    @Test
    void storeThatAsksForFewerRequests_getsFewer() {
        log.store().failAlways(WriteFault.FAIL_ON_CREATE);
        long failing = requestsWithinFiveSeconds();
        log.store().failAlways(WriteFault.THROTTLE);
        long throttling = requestsWithinFiveSeconds();
        assertThat(throttling).isLessThan(failing);
        assertThat(log.metrics().count("numberOfThrottledUploads")).isEqualTo(throttling);
        log.store().failAlways(WriteFault.NONE);
    }

    private long requestsWithinFiveSeconds() {
        long before = log.store().requests("create");
        append(writer, "x".repeat(SEAL));
        // Not longer: both double their delays up to the same limit, and the delays are random.
        log.timers().advanceMillis(5_000);
        long requests = log.store().requests("create") - before;
        writer.truncate(writer.nextSequenceNumber());
        return requests;
    }

    private void appendRecord(List<String> appended) {
        String text = appended.size() + "x".repeat(RECORD);
        append(writer, text);
        appended.add(text);
    }
}
