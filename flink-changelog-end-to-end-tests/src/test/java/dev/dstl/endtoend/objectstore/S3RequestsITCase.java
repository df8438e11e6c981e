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
import static dev.dstl.endtoend.objectstore.ObjectStoreContract.persist;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.endtoend.objectstore.front.FrontFault;
import dev.dstl.endtoend.objectstore.front.RequestTally;
import dev.dstl.endtoend.objectstore.job.SummingJob;
import dev.dstl.log.api.ChangelogWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The exact number of requests of the changelog storage to S3; docs/object-stores.md explains them.
 */
@Timeout(300)
class S3RequestsITCase {

    private static FrontedS3 store;
    private final Path root = store.newRoot();

    @BeforeAll
    static void startStore() throws Exception {
        store = FrontedS3.start(new Configuration());
    }

    @AfterAll
    static void stopStore() throws Exception {
        if (store != null) {
            store.close();
        }
    }

    /** The first request of a client is slow and would get a second attempt. */
    @BeforeEach
    void warmUp() throws IOException {
        Path file = new Path(root, "warm-up");
        FileSystem fileSystem = file.getFileSystem();
        fileSystem.create(file, WriteMode.OVERWRITE).close();
        assertThat(fileSystem.delete(file, false)).isTrue();
        store.front().forgetRequests();
    }

    @Test
    void startOfTheFirstTask_asksNothing() throws Exception {
        try (LogOnStore log = new LogOnStore(root)) {
            log.writer().close();
            log.writer().close();
        }
        assertRequests(0, 0, 0, 0, 0);
    }

    @Test
    void segment_isOnePut_andNothingElse() throws Exception {
        try (LogOnStore log = new LogOnStore(root)) {
            ChangelogWriter writer = log.writer();
            List<ChangelogStateHandleStreamImpl> handles = new ArrayList<>();
            for (int checkpoint = 1; checkpoint <= 10; checkpoint++) {
                SequenceNumber from = writer.nextSequenceNumber();
                append(writer, "checkpoint " + checkpoint);
                handles.add(handleOf(writer.persist(from, checkpoint)));
            }
            assertRequests(10, 0, 0, 0, 0);
            assertThat(store.front().requests().keys(RequestType.PUT))
                    .doesNotHaveDuplicates()
                    .hasSameSizeAs(LogOnStore.named(handles));
        }
    }

    @Test
    void segmentNoCheckpointContains_isDeletedWithTheOneQuestionThatThePluginAsks()
            throws Exception {
        Configuration eager = new Configuration();
        eager.setString("state.changelog.dstl.dfs.preemptive-persist-threshold", "1 b");
        try (LogOnStore log = new LogOnStore(root, eager)) {
            ChangelogWriter writer = log.writer();
            append(writer, "uploaded before any checkpoint asked");
            SequenceNumber next = writer.nextSequenceNumber();
            CommonTestUtils.waitUntilCondition(() -> count(RequestType.PUT) == 1, 20);
            writer.truncate(next);
            awaitDeletes(1);
            assertRequests(1, 0, 1, 0, 1);
        }
    }

    @Test
    void segmentThatTheJobManagerDeletes_costsTheSame() throws Exception {
        try (LogOnStore log = new LogOnStore(root)) {
            ChangelogWriter writer = log.writer();
            append(writer, "of a checkpoint");
            ChangelogStateHandleStreamImpl handle = persist(writer);
            handle.getHandlesAndOffsets().get(0).f0.discardState();
            assertRequests(1, 0, 1, 0, 1);
        }
    }

    @Test
    void segmentThatIsReplayed_isOneGet_howeverManyFramesItHas() throws Exception {
        try (LogOnStore log = new LogOnStore(root)) {
            ChangelogWriter writer = log.writer();
            for (int batch = 0; batch < 5; batch++) {
                append(writer, "batch " + batch);
                SequenceNumber ignored = writer.nextSequenceNumber();
            }
            ChangelogStateHandleStreamImpl handle = persist(writer);
            assertThat(texts(handle)).hasSize(5);
            assertRequests(1, 1, 0, 0, 0);
        }
    }

    @Test
    void attemptThatFailed_isLookedFor_sinceItMayHaveArrived() throws Exception {
        Configuration impatient = new Configuration();
        impatient.setString("s3.max-error-retries", "0");
        store.use(impatient);
        warmUp();
        try (LogOnStore log = new LogOnStore(root)) {
            ChangelogWriter writer = log.writer();
            store.front().fail(FrontFault.RESET, RequestType.PUT, key -> true, 1);
            append(writer, "in the second attempt");
            ChangelogStateHandleStreamImpl handle = persist(writer);
            assertThat(texts(handle)).hasSize(1);
            CommonTestUtils.waitUntilCondition(() -> count(RequestType.LIST) >= 2, 100);
            assertRequests(2, 1, 4, 2, 0);
        } finally {
            store.use(new Configuration());
        }
    }

    /** Without hedged attempts and timeouts, which a busy machine would cause. */
    @Test
    void jobWithAFailure_putsEachSegmentOnce_listsNothing_andLeavesNothing() throws Exception {
        Configuration oneAttempt = new Configuration();
        oneAttempt.setString("state.changelog.dstl.upload.hedge.budget", "0");
        oneAttempt.setString("state.changelog.dstl.dfs.upload.timeout", "0 s");
        assertThat(new SummingJob("dstl", root, oneAttempt).run()).isEqualTo(SummingJob.expected());

        Path log = SummingJob.log(root);
        CommonTestUtils.waitUntilCondition(() -> leftBelow(prefix(log)).isEmpty());
        RequestTally requests = store.front().requests().below(prefix(log));
        List<String> written = requests.keys(RequestType.PUT);
        assertThat(written).hasSizeGreaterThan(20).doesNotHaveDuplicates();
        assertThat(requests.keys(RequestType.DELETE))
                .doesNotHaveDuplicates()
                .containsExactlyInAnyOrderElementsOf(written);
        assertThat(requests.keys(RequestType.HEAD))
                .as("the plugin's question before a deletion, once for each")
                .containsExactlyInAnyOrderElementsOf(written);
        assertThat(requests.count(RequestType.LIST)).isZero();
        assertThat(requests.count(RequestType.GET))
                .as("one replay of at most everything, by two subtasks")
                .isBetween(1L, 2L * written.size());
    }

    private static void awaitDeletes(long deletes) throws Exception {
        CommonTestUtils.waitUntilCondition(() -> count(RequestType.DELETE) == deletes, 20);
    }

    private static long count(RequestType type) {
        return store.front().requests().count(type);
    }

    /** Keys that were written and not deleted according to the requests. */
    private static List<String> leftBelow(String prefix) {
        RequestTally requests = store.front().requests().below(prefix);
        List<String> left = new ArrayList<>(requests.keys(RequestType.PUT));
        left.removeAll(requests.keys(RequestType.DELETE));
        return left;
    }

    private static void assertRequests(long put, long get, long head, long list, long delete) {
        assertThat(store.front().requests())
                .hasToString(
                        String.format(
                                "PUT %d, GET %d, HEAD %d, LIST %d, DELETE %d",
                                put, get, head, list, delete));
    }
}
