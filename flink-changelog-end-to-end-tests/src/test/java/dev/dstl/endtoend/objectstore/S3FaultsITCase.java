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

package dev.dstl.endtoend.objectstore;

import static dev.dstl.endtoend.objectstore.FrontedS3.prefix;
import static dev.dstl.endtoend.objectstore.ObjectStoreContract.append;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.endtoend.objectstore.front.FrontFault;
import dev.dstl.endtoend.objectstore.job.SummingJob;
import dev.dstl.log.api.ChangelogWriter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store that throttles, breaks connections and loses acknowledgements loses no state change and
 * keeps no unneeded file, whether the plugin hides the fault or not.
 */
@Timeout(300)
class S3FaultsITCase {

    private FrontedS3 store;
    private Path root;

    @BeforeEach
    void startStore() throws Exception {
        store = FrontedS3.start(new Configuration());
        root = store.newRoot();
    }

    @AfterEach
    void stopStore() throws Exception {
        store.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"SLOW_DOWN", "RESET", "LOSE_ACKNOWLEDGEMENT"})
    void writesThatThePluginRepeats_loseAndLeaveNothing(FrontFault fault) throws Exception {
        loseAndLeaveNothing(fault);
    }

    @ParameterizedTest
    @EnumSource(names = {"SLOW_DOWN", "RESET", "LOSE_ACKNOWLEDGEMENT"})
    void writesThatTheLogRepeats_loseAndLeaveNothing(FrontFault fault) throws Exception {
        store.use(withoutRetriesOfThePlugin());
        loseAndLeaveNothing(fault);
        assertThat(store.front().requests().keys(RequestType.PUT))
                .as("second attempts of our own")
                .anyMatch(key -> key.endsWith("-2.seg"));
    }

    private void loseAndLeaveNothing(FrontFault fault) throws Exception {
        try (LogOnStore log = new LogOnStore(root, quickRetries())) {
            ChangelogWriter writer = log.writer();
            List<ChangelogStateHandleStreamImpl> handles = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            for (int checkpoint = 1; checkpoint <= 5; checkpoint++) {
                store.front().fail(fault, RequestType.PUT, this::isSegment, 1 + checkpoint % 2);
                SequenceNumber from = writer.nextSequenceNumber();
                append(writer, "checkpoint " + checkpoint);
                expected.add("checkpoint " + checkpoint);
                handles.add(handleOf(writer.persist(from, checkpoint)));
            }
            assertHolds(log, handles, expected);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void deletionsThatFail_areRepeated(boolean retriesOfThePlugin) throws Exception {
        store.use(retriesOfThePlugin ? new Configuration() : withoutRetriesOfThePlugin());
        store.front().fail(FrontFault.SLOW_DOWN, RequestType.DELETE, key -> true, 2);
        Configuration eager = new Configuration();
        eager.setString("state.changelog.dstl.dfs.preemptive-persist-threshold", "1 b");
        try (LogOnStore log = new LogOnStore(root, eager)) {
            ChangelogWriter writer = log.writer();
            append(writer, "uploaded before any checkpoint asked");
            SequenceNumber next = writer.nextSequenceNumber();
            CommonTestUtils.waitUntilCondition(() -> log.files().size() == 1, 50);
            writer.truncate(next);
            CommonTestUtils.waitUntilCondition(() -> log.files().isEmpty(), 50);
        }
    }

    @Test
    void writeThatHangs_isOvertakenByASecond_andItsFileDeletedWhenItEnds() throws Exception {
        try (LogOnStore log = new LogOnStore(root)) {
            ChangelogWriter writer = log.writer();
            store.front().fail(FrontFault.HOLD, RequestType.PUT, this::isSegment, 1);
            append(writer, "in the second attempt");
            ChangelogStateHandleStreamImpl handle =
                    handleOf(writer.persist(writer.initialSequenceNumber(), 1));
            store.front().awaitHeld(1);
            assertThat(LogOnStore.named(List.of(handle)))
                    .allMatch(file -> file.getName().endsWith("-2.seg"));
            store.front().releaseHeld();
            assertHolds(log, List.of(handle), List.of("in the second attempt"));
            assertThat(store.front().requests().keys(RequestType.DELETE))
                    .anyMatch(key -> key.endsWith("/1-1.seg"));
        }
    }

    @Test
    void outage_delaysTheCheckpoint_andDamagesNothing() throws Exception {
        store.use(withoutRetriesOfThePlugin());
        try (LogOnStore log = new LogOnStore(root, quickRetries())) {
            ChangelogWriter writer = log.writer();
            store.front()
                    .fail(FrontFault.RESET, RequestType.PUT, this::isSegment, Integer.MAX_VALUE);
            append(writer, "written during the outage");
            Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                    writer.persist(writer.initialSequenceNumber(), 1);
            CommonTestUtils.waitUntilCondition(
                    () -> store.front().requests().count(RequestType.PUT) > 8, 20);
            assertThat(persist.isDone()).isFalse();
            store.front().heal();
            assertHolds(log, List.of(handleOf(persist)), List.of("written during the outage"));
        }
    }

    @Test
    void jobOnABadStore_isExact_andLeavesNothing() throws Exception {
        store.use(withoutRetriesOfThePlugin());
        for (int round = 0; round < 5; round++) {
            for (FrontFault fault :
                    List.of(
                            FrontFault.SLOW_DOWN,
                            FrontFault.RESET,
                            FrontFault.LOSE_ACKNOWLEDGEMENT)) {
                store.front().fail(fault, RequestType.PUT, this::isSegment, 1);
            }
        }
        assertThat(new SummingJob("dstl", root, quickRetries()).run())
                .isEqualTo(SummingJob.expected());
        CommonTestUtils.waitUntilCondition(
                () -> LogOnStore.filesBelow(SummingJob.log(root)).isEmpty(), 50);
    }

    /** Whether a key is a segment, not another file. */
    private boolean isSegment(String key) {
        return key.startsWith(prefix(root)) && key.endsWith(".seg");
    }

    /** Asserts that all records are readable, and that only files of handles exist. */
    private static void assertHolds(
            LogOnStore log, List<ChangelogStateHandleStreamImpl> handles, List<String> expected)
            throws Exception {
        List<String> found = new ArrayList<>();
        for (ChangelogStateHandleStreamImpl handle : handles) {
            found.addAll(texts(handle));
        }
        assertThat(found).isEqualTo(expected);
        // What an interrupted request stores after its file was deleted is deleted again 30 s
        // later.
        CommonTestUtils.waitUntilCondition(
                () -> new HashSet<>(log.files()).equals(LogOnStore.named(handles)), 450);
    }

    /** The plugin does not retry, so the changelog handles every fault. */
    private static Configuration withoutRetriesOfThePlugin() {
        Configuration configuration = new Configuration();
        configuration.setString("s3.max-error-retries", "0");
        configuration.setString("s3.max-client-retries", "0");
        return configuration;
    }

    private static Configuration quickRetries() {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.upload.next-attempt-delay", "20 ms");
        configuration.setString("state.changelog.dstl.upload.max-retry-delay", "50 ms");
        return configuration;
    }
}
