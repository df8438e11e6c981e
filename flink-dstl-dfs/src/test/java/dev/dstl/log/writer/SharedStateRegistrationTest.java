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

package dev.dstl.log.writer;

import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.LogLines;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CheckpointRetentionPolicy;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.CheckpointsCleaner;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StandaloneCompletedCheckpointStore;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.testutils.TestCompletedCheckpointStorageLocation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DSTL's handles in Flink's own registry of shared state. */
class SharedStateRegistrationTest {

    private static final int INLINE = 1 << 10;

    private LogFixture log = fixture(0);
    private DstlLogWriter writer = log.writer();
    private SharedStateRegistryImpl registry = new SharedStateRegistryImpl(Runnable::run);

    private static LogFixture fixture(int inlineBytes) {
        return LogFixture.onCallingThread(
                new Configuration().set(DstlOptions.INLINE_THRESHOLD, new MemorySize(inlineBytes)));
    }

    @AfterEach
    void close() {
        writer.close();
        registry.close();
        log.close();
    }

    /** Without serialization between checkpoints, as in a MiniCluster. */
    @ParameterizedTest
    @ValueSource(ints = {0, INLINE})
    void framesOfOneSegment_andTheSameSegmentAgain_areRegisteredWithoutAWord(int inlineBytes)
            throws Exception {
        close();
        log = fixture(inlineBytes);
        registry = new SharedStateRegistryImpl(Runnable::run);
        writer = log.writer();
        try (DstlLogWriter other = log.writer();
                LogLines lines = new LogLines("org.apache.flink.runtime.state.SharedState")) {
            appendFrames(writer, "a", "b", "c");
            appendFrames(other, "d");
            for (int checkpoint = 1; checkpoint <= 3; checkpoint++) {
                register(persist(writer, checkpoint), checkpoint);
                register(persist(other, checkpoint), checkpoint);
            }
            assertThat(lines.containing("")).isEmpty();
        }
    }

    @Test
    void segmentOfSeveralLogsAndFrames_isDeletedWithTheLastCheckpointThatNamesIt()
            throws Exception {
        try (DstlLogWriter other = log.writer()) {
            appendFrames(writer, "a", "b");
            appendFrames(other, "c");
            register(persist(writer, 1), 1);
            register(persist(other, 1), 1);
            assertThat(log.store().segments()).hasSize(1);
            writer.truncate(writer.nextSequenceNumber());
            register(persist(other, 2), 2);
            registry.unregisterUnusedState(2);
            assertThat(log.store().segments()).hasSize(1);
            assertThat(texts(persist(other, 3))).containsExactly("c");
            other.truncate(other.nextSequenceNumber());
            registry.unregisterUnusedState(4);
            assertThat(log.store().segments()).isEmpty();
        }
    }

    /** Includes a checkpoint of an earlier format, whose frames share one handle. */
    @ParameterizedTest
    @EnumSource(RestoreMode.class)
    void restartedJob_deletesWhatItClaimed_andNothingElse(RestoreMode mode) throws Exception {
        appendFrames(writer, "a", "b");
        ChangelogStateHandleStreamImpl persisted = persist(writer, 1);
        List<Path> segments = log.store().segments();
        for (ChangelogStateHandleStreamImpl handle : List.of(persisted, sharing(persisted))) {
            restart(handle, mode);
            ChangelogStateHandleStreamImpl restored = roundTrip(handle);
            assertThat(texts(restored)).containsExactly("a", "b");
            register(restored, 2);
            registry.unregisterUnusedState(2);
            assertThat(log.store().segments()).isEqualTo(segments);
        }
        registry.unregisterUnusedState(3);
        assertThat(log.store().segments())
                .isEqualTo(mode == RestoreMode.CLAIM ? List.of() : segments);
    }

    /**
     * A known limitation of Flink, whatever the backend: a job that was not started from a
     * checkpoint recovers its own after a failover of the JobManager as if it were another job's.
     * When this test fails, Flink has fixed that, and {@code docs/reliability.md} is out of date.
     */
    @Test
    void filesOfTheCheckpointThatAJobManagerRecovered_stay() throws Exception {
        appendFrames(writer, "a");
        ChangelogStateHandleStreamImpl recovered = persist(writer, 1);
        restart(recovered, SavepointRestoreSettings.none().getRestoreMode());
        register(recovered, 2);
        registry.unregisterUnusedState(3);
        assertThat(log.store().segments()).hasSize(1);
    }

    /**
     * A rule of Flink, whatever the backend: a job that claims a checkpoint owns all that it names,
     * also what an earlier job had of a checkpoint that it restored with {@code LEGACY}.
     */
    @Test
    @SuppressWarnings("deprecation") // Flink advises against LEGACY, and supports it.
    void filesOfACheckpointRestoredWithLegacy_areDeletedByTheJobThatClaimsTheNextOne()
            throws Exception {
        appendFrames(writer, "a");
        ChangelogStateHandleStreamImpl original = persist(writer, 1);
        restart(original, RestoreMode.LEGACY);
        ChangelogStateHandleStreamImpl next = roundTrip(original);
        register(next, 2);
        registry.unregisterUnusedState(3);
        assertThat(log.store().segments()).hasSize(1);

        restart(next, RestoreMode.CLAIM);
        registry.unregisterUnusedState(3);
        assertThat(log.store().segments()).isEmpty();
    }

    @Test
    void batchesThatTravelInline_areWrittenOnceEach() throws Exception {
        close();
        log = fixture(INLINE);
        registry = new SharedStateRegistryImpl(Runnable::run);
        writer = log.writer();
        appendFrames(writer, "x".repeat(100), "y".repeat(100), "z".repeat(100));
        ChangelogStateHandleStreamImpl handle = persist(writer, 1);
        assertThat(filesOf(handle)).isEmpty();
        long bytes = 0;
        for (Tuple2<StreamStateHandle, Long> position : handle.getHandlesAndOffsets()) {
            bytes += position.f0.getStateSize();
        }
        assertThat(bytes).as("in the checkpoint's metadata").isLessThan(2 * INLINE);
        assertThat(texts(roundTrip(handle))).hasSize(3);
    }

    /**
     * A known limitation of Flink, whatever the backend: what only a checkpoint names that the
     * cancellation of its job aborted is newer than the retained one, so nobody deletes it. When
     * this test fails, Flink has fixed that, and {@code docs/reliability.md} is out of date.
     */
    @Test
    void segmentThatOnlyTheCheckpointNamesWhichACancellationAborted_stays() throws Exception {
        StandaloneCompletedCheckpointStore store = new StandaloneCompletedCheckpointStore(1);
        CheckpointsCleaner cleaner = new CheckpointsCleaner();
        appendFrames(writer, "a");
        ChangelogStateHandleStreamImpl retained = persist(writer, 1);
        retained.registerSharedStates(store.getSharedStateRegistry(), 1);
        store.addCheckpointAndSubsumeOldestOne(checkpoint(retained), cleaner, () -> {});
        List<Path> ofRetained = log.store().segments();

        appendFrames(writer, "b");
        ChangelogStateHandleStreamImpl aborted = persist(writer, 2);
        aborted.registerSharedStates(store.getSharedStateRegistry(), 2);
        aborted.discardState();
        store.shutdown(JobStatus.CANCELED, cleaner);
        writer.close();

        assertThat(ofRetained).hasSize(1);
        assertThat(log.store().segments()).hasSize(2).containsAll(ofRetained);
    }

    /** Starts a JobManager that restores a checkpoint. */
    private void restart(ChangelogStateHandleStreamImpl handle, RestoreMode mode) throws Exception {
        registry.close();
        registry = new SharedStateRegistryImpl(Runnable::run);
        registry.registerAllAfterRestored(checkpoint(handle), mode);
    }

    private static CompletedCheckpoint checkpoint(ChangelogStateHandleStreamImpl handle)
            throws Exception {
        OperatorState operator = operator(roundTrip(handle));
        return new CompletedCheckpoint(
                LogFixture.JOB_ID,
                1,
                1,
                1,
                Map.of(operator.getOperatorID(), operator),
                null,
                CheckpointProperties.forCheckpoint(
                        CheckpointRetentionPolicy.RETAIN_ON_CANCELLATION),
                new TestCompletedCheckpointStorageLocation(),
                null);
    }

    private static OperatorState operator(ChangelogStateHandleStreamImpl handle) {
        List<KeyedStateHandle> bases = List.of();
        List<ChangelogStateHandle> logs = List.of(handle);
        OperatorState operator = new OperatorState(new OperatorID(1, 2), 1, 8);
        operator.putState(
                0,
                OperatorSubtaskState.builder()
                        .setManagedKeyedState(
                                new ChangelogStateBackendHandleImpl(
                                        bases, logs, handle.getKeyGroupRange(), 1, 0, 0))
                        .build());
        return operator;
    }

    /** Writes a handle to checkpoint metadata and reads it back. */
    private static ChangelogStateHandleStreamImpl roundTrip(ChangelogStateHandleStreamImpl handle)
            throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Checkpoints.storeCheckpointMetadata(
                new CheckpointMetadata(1, List.of(operator(handle)), List.of()), bytes);
        CheckpointMetadata read =
                Checkpoints.loadCheckpointMetadata(
                        new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())),
                        SharedStateRegistrationTest.class.getClassLoader(),
                        "memory");
        OperatorState operator = read.getOperatorStates().iterator().next();
        KeyedStateHandle state = operator.getState(0).getManagedKeyedState().iterator().next();
        return (ChangelogStateHandleStreamImpl)
                ((ChangelogStateBackendHandle) state).getNonMaterializedStateHandles().get(0);
    }

    private static ChangelogStateHandleStreamImpl sharing(ChangelogStateHandleStreamImpl handle) {
        StreamStateHandle first = handle.getHandlesAndOffsets().get(0).f0;
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>();
        handle.getHandlesAndOffsets().forEach(frame -> frames.add(Tuple2.of(first, frame.f1)));
        return new ChangelogStateHandleStreamImpl(
                frames, handle.getKeyGroupRange(), 1, 1, handle.getStorageIdentifier());
    }

    private static void appendFrames(DstlLogWriter writer, String... texts) {
        for (String text : texts) {
            append(writer, text);
            SequenceNumber unused = writer.nextSequenceNumber();
        }
    }

    private ChangelogStateHandleStreamImpl persist(DstlLogWriter writer, long checkpointId)
            throws Exception {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), checkpointId);
        log.passLinger();
        return handleOf(persist);
    }

    private void register(ChangelogStateHandleStreamImpl handle, long checkpointId) {
        handle.registerSharedStates(registry, checkpointId);
    }
}
