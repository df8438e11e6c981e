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

package dev.dstl.log.commit;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import dev.dstl.log.writer.DstlLogWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A checkpoint contains each batch in the form, inline or by segment, on which other changelogs
 * rely.
 */
class BookedFormTest {

    private static final long MAX_AGE_MILLIS = 5_000;

    private final ManualExecutor executor = new ManualExecutor();
    private final LogFixture log =
            LogFixture.on(
                    executor,
                    new Configuration()
                            .set(DstlOptions.INLINE_THRESHOLD, new MemorySize(1 << 10))
                            .set(DstlOptions.MAX_AGE, Duration.ofMillis(MAX_AGE_MILLIS)));
    private final DstlLogWriter x = log.writer();
    private final DstlLogWriter y = log.writer();
    private final SharedStateRegistry jobManager = new SharedStateRegistryImpl(Runnable::run);

    @AfterEach
    void close() throws Exception {
        x.close();
        y.close();
        executor.runAll();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        jobManager.close();
        log.close();
    }

    @Test
    void segmentThatBecomesDurableDuringAnInlinePersist_isNotNamedByIt() throws Exception {
        List<Runnable> upload = uploadOfASharedSegment();
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> encodedOfY =
                y.persist(y.initialSequenceNumber(), 2);
        executor.runAll();
        assertThat(encodedOfY).isDone();
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                x.persist(x.initialSequenceNumber(), 2);
        List<Runnable> encodingOfX = executor.takeAll();
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> third =
                y.persist(y.initialSequenceNumber(), 3);
        assertThat(third).isDone();
        upload.forEach(Runnable::run);
        executor.runAll();
        assertThat(segments()).hasSize(1);
        encodingOfX.forEach(Runnable::run);
        executor.runAll();

        assertThat(filesOf(handleOf(second))).as("of a checkpoint booked as inline").isEmpty();
        assertThat(texts(handleOf(second))).containsExactly("of x");
        assertThat(filesOf(handleOf(third))).isEmpty();
        handleOf(second).registerSharedStates(jobManager, 2);
        SequenceNumber base = x.nextSequenceNumber();
        handleOf(third).registerSharedStates(jobManager, 3);
        x.truncate(base);
        jobManager.unregisterUnusedState(3);

        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> fourth =
                y.persist(y.initialSequenceNumber(), 4);
        executor.runAll();
        assertThat(segments()).containsAll(filesOf(handleOf(fourth)));
        assertThat(texts(handleOf(fourth))).containsExactly("of y");
    }

    @Test
    void closedLog_cancelsACheckpointThatIsStillEncoded_alsoIfTheSegmentIsDurable()
            throws Exception {
        List<Runnable> upload = uploadOfASharedSegment();
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> second =
                x.persist(x.initialSequenceNumber(), 2);
        List<Runnable> encoding = executor.takeAll();
        upload.forEach(Runnable::run);
        executor.runAll();
        assertThat(second).isNotDone();
        x.close();
        assertThat(second).isDone();
        encoding.forEach(Runnable::run);
    }

    /** Uploads of a segment with a batch of each changelog; running one makes it durable. */
    private List<Runnable> uploadOfASharedSegment() {
        x.persist(x.initialSequenceNumber(), 1).join();
        y.persist(y.initialSequenceNumber(), 1).join();
        append(x, "of x");
        x.nextSequenceNumber();
        append(y, "of y");
        y.nextSequenceNumber();
        log.timers().advanceMillis(MAX_AGE_MILLIS);
        log.passLinger();
        assertThat(executor.size()).as("uploads").isEqualTo(1);
        return executor.takeAll();
    }

    private List<String> segments() {
        return log.store().segments().stream().map(Path::toString).collect(Collectors.toList());
    }
}
