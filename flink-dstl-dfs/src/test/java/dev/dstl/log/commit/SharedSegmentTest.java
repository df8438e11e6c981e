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
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.writer.DstlLogWriter;
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

/** Two changelogs share segments while the JobManager deletes what no checkpoint needs. */
class SharedSegmentTest {

    private final LogFixture log =
            LogFixture.onCallingThread(
                    new Configuration().set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO));
    private final DstlLogWriter slow = log.writer();
    private final DstlLogWriter fast = log.writer();
    private final SharedStateRegistry jobManager = new SharedStateRegistryImpl(Runnable::run);

    @AfterEach
    void close() throws Exception {
        slow.close();
        fast.close();
        jobManager.close();
        log.close();
    }

    @Test
    void barrierThatArrivesLate_bringsNoSegmentIntoPlay_thatALaterCheckpointOfAnotherLogMissed()
            throws Exception {
        acknowledge(fast, 1);
        acknowledge(fast, 2);
        append(fast, "after its barrier of checkpoint 2");
        fast.nextSequenceNumber();
        append(slow, "before its barrier of checkpoint 1");
        acknowledge(slow, 1);
        slow.truncate(slow.nextSequenceNumber());
        acknowledge(slow, slow.nextSequenceNumber(), 2);
        jobManager.unregisterUnusedState(2);

        ChangelogStateHandleStreamImpl third = acknowledge(fast, 3);

        assertThat(segments()).isEqualTo(filesOf(third));
    }

    @Test
    void checkpointsOneAfterTheOther_makeOneSegmentOfBothLogs() throws Exception {
        acknowledge(fast, 1);
        append(fast, "after its barrier of checkpoint 1");
        fast.nextSequenceNumber();
        append(slow, "before its barrier of checkpoint 1");

        List<String> files = filesOf(acknowledge(slow, 1));

        assertThat(segments()).isEqualTo(files);
        assertThat(filesOf(acknowledge(fast, 2))).isEqualTo(files);
    }

    private List<String> segments() {
        return log.store().segments().stream().map(Path::toString).collect(Collectors.toList());
    }

    private ChangelogStateHandleStreamImpl acknowledge(DstlLogWriter writer, long checkpointId)
            throws Exception {
        return acknowledge(writer, writer.initialSequenceNumber(), checkpointId);
    }

    private ChangelogStateHandleStreamImpl acknowledge(
            DstlLogWriter writer, SequenceNumber from, long checkpointId) throws Exception {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(from, checkpointId);
        log.passLinger();
        if (persist.get().getJobManagerOwnedSnapshot() == null) {
            return null;
        }
        ChangelogStateHandleStreamImpl handle = handleOf(persist);
        handle.registerSharedStates(jobManager, checkpointId);
        return handle;
    }
}
