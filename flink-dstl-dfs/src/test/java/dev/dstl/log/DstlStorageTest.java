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

package dev.dstl.log;

import static dev.dstl.log.testing.LogFixture.KEY_GROUPS;
import static dev.dstl.log.testing.LogFixture.filesOf;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.ChangelogReader;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.LogLines;
import dev.dstl.log.testing.WriteFault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.FileSystemSafetyNet;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.io.AvailabilityProvider;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.mailbox.SyncMailboxExecutor;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.TestLocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class DstlStorageTest {

    private final JobID jobId = new JobID();
    private final FaultyStore store = FaultyStore.create();
    private final LogLines lines = new LogLines();
    private final Set<Thread> threadsOfOthers = logThreads();

    @TempDir Path directory;

    @AfterEach
    void close() {
        lines.close();
        store.close();
    }

    @Test
    void jobWithoutChangelog_isNotHarmedByMissingOrWrongConfiguration() throws Exception {
        Configuration wrong = new Configuration().set(DstlOptions.UPLOAD_THREADS, -1);
        assertThatCode(
                        () -> {
                            DstlStorage storage = storage(wrong);
                            assertThat(storage.getAvailabilityProvider().getAvailableFuture())
                                    .isSameAs(AvailabilityProvider.AVAILABLE);
                            storage.close();
                        })
                .doesNotThrowAnyException();
        awaitThreadsToEnd();
    }

    @Test
    void missingBasePath_failsTheFirstTaskWithAChangelog_namingTheKey() {
        assertThatThrownBy(() -> writer(storage(new Configuration())))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("'state.changelog.dstl.dfs.base-path' is not set")
                .hasMessageContaining("for example s3://bucket/changelog");
    }

    @Test
    void basePathOfUnknownScheme_saysWhatToInstall() {
        assertThatThrownBy(() -> writer(storage("s4://bucket/log")))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageStartingWith(
                        "'state.changelog.dstl.dfs.base-path' is 's4://bucket/log', for which there"
                                + " is no file system: Could not find")
                .hasMessageEndingWith(
                        "Put the file system's plugin into plugins/ of every node, or use a scheme"
                                + " that is there.")
                .hasNoCause();
    }

    @Test
    void basePathThatIsAFile_isNoReasonNotToStart_andServesOnceTheFileIsGone() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        DstlStorage storage = storage(file.toUri().toString());
        ChangelogWriter writer = writer(storage);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), 1);
        await(() -> !lines.containing("WARN 'state.changelog.dstl.dfs.base-path' is ").isEmpty());
        assertThat(lines.containing("WARN 'state.changelog.dstl.dfs.base-path' is "))
                .singleElement()
                .asString()
                .contains(
                        "where no state changes could be stored so far: ",
                        "nothing has to be restarted");
        Files.delete(file);
        assertThat(texts(handleOf(persist))).containsExactly("a");
        writer.close();
        storage.close();
    }

    @Test
    void subtaskOfAnOperatorWithMany_hasLessInline() throws Exception {
        DstlStorage storage =
                storage(
                        configuration(store.basePath().toString())
                                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.parse("20 kb")));
        for (int parallelism : new int[] {1, 4_000}) {
            ChangelogWriter writer =
                    storage.createWriter(
                            "operator-" + parallelism,
                            KEY_GROUPS,
                            new SyncMailboxExecutor(),
                            parallelism);
            append(writer, "x".repeat(8_000));
            ChangelogStateHandleStreamImpl handle =
                    handleOf(writer.persist(writer.initialSequenceNumber(), 1));
            assertThat(filesOf(handle)).hasSize(parallelism == 1 ? 0 : 1);
            writer.close();
        }
        storage.close();
    }

    @Test
    void storeThatRefusesWhileATaskStarts_failsNoTask_andTakesTheChangesLater() throws Exception {
        DstlStorage storage = storage(store.basePath().toString());
        store.failNext(WriteFault.FAIL_ON_CREATE, WriteFault.FAIL_ON_CREATE);
        ChangelogWriter writer = writer(storage);
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle =
                handleOf(writer.persist(writer.initialSequenceNumber(), 1));
        assertThat(texts(handle)).containsExactly("a");
        writer.close();
        storage.close();
    }

    @Test
    void firstTask_asksTheStoreNothing() throws Exception {
        DstlStorage storage = storage(store.basePath().toString());
        writer(storage).close();
        storage.close();
        awaitThreadsToEnd();
        assertThat(store.files()).isEmpty();
        assertThat(store.requests("create")).isZero();
    }

    @Test
    void storeThatForbidsDeleting_isNoReasonNotToStart() throws Exception {
        store.failDeletes(true);
        DstlStorage storage = storage(store.basePath().toString());
        assertThatCode(() -> writer(storage).close()).doesNotThrowAnyException();
        storage.close();
    }

    @Test
    void endOfTheTaskThatCameFirst_doesNotCloseTheFileSystemOfTheOthers() throws Exception {
        DstlStorage storage = storage(store.basePath().toString());
        store.failNext(WriteFault.HANG);
        FileSystemSafetyNet.initializeSafetyNetForThread();
        ChangelogWriter writer = writer(storage);
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), 1);
        store.awaitHanging(1);
        FileSystemSafetyNet.closeSafetyNetAndGuardedResourcesForThread();
        store.releaseHanging();
        assertThat(texts(handleOf(persist))).containsExactly("a");
        writer.close();
        storage.close();
    }

    @Test
    void whatIsWritten_isReadBackThroughTheStorageAndThroughTheView() throws Exception {
        DstlStorage storage = storage(directory.toUri().toString());
        ChangelogWriter writer = writer(storage);
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle =
                handleOf(writer.persist(writer.initialSequenceNumber(), 1));
        assertThat(texts(handle)).containsExactly("a");
        ChangelogReader reader =
                new DstlStorageFactory().createStorageView(new Configuration()).createReader();
        assertThat(reader.getChanges(handle).hasNext()).isTrue();
        try (Stream<Path> files = Files.walk(directory)) {
            assertThat(files.filter(Files::isRegularFile)).hasSize(1);
        }
        writer.close();
        storage.close();
    }

    @Test
    void smallChanges_travelInTheHandle_andAreReadWithoutAFile() throws Exception {
        DstlStorage storage =
                storage(
                        new Configuration()
                                .set(DstlOptions.BASE_PATH, directory.toUri().toString()));
        ChangelogWriter writer = writer(storage);
        append(writer, "a");
        ChangelogStateHandleStreamImpl handle =
                handleOf(writer.persist(writer.initialSequenceNumber(), 1));
        assertThat(texts(handle)).containsExactly("a");
        assertThat(filesOf(handle)).isEmpty();
        writer.close();
        storage.close();
        awaitThreadsToEnd();
        try (Stream<Path> files = Files.walk(directory)) {
            assertThat(files.filter(Files::isRegularFile)).isEmpty();
        }
    }

    @Test
    void withLocalRecovery_checkpointsNameCopiesOnTheLocalDisk_andClosingDeletesThem()
            throws Exception {
        Path root = directory.resolve("localState");
        LocalRecoveryConfig localRecovery =
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(
                                root.resolve("aid_1").toFile(), jobId, new JobVertexID(), 0));
        DstlStorage storage =
                new DstlStorageFactory()
                        .createStorage(
                                jobId,
                                configuration(store.basePath().toString()),
                                UnregisteredMetricGroups
                                        .createUnregisteredTaskManagerJobMetricGroup(),
                                localRecovery);
        ChangelogWriter writer = writer(storage);
        append(writer, "a");
        writer.persist(writer.initialSequenceNumber(), 1).get(30, TimeUnit.SECONDS);
        awaitCopies(root, 1);
        ChangelogStateHandleStreamImpl local;
        long checkpoint = 2;
        do {
            // A copy that is there may not be complete.
            local =
                    writer.persist(writer.initialSequenceNumber(), checkpoint++)
                            .get(30, TimeUnit.SECONDS)
                            .getTaskLocalSnapshot();
        } while (checkpoint < 10_000 && !filesOf(local).get(0).startsWith("file:"));
        assertThat(texts(local)).containsExactly("a");
        assertThat(filesOf(local).get(0))
                .startsWith("file:")
                .contains("/localState/dstl_jid_" + jobId + "/");
        writer.close();
        storage.close();
        awaitThreadsToEnd();
        awaitCopies(root, 0);
    }

    private static void awaitCopies(Path root, int count) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        long found = -1;
        while (found != count && System.nanoTime() < deadline) {
            Thread.sleep(1);
            try (Stream<Path> files = Files.walk(root)) {
                found = files.filter(file -> file.toString().endsWith(".seg")).count();
            } catch (UncheckedIOException goneMeanwhile) {
                found = -1;
            }
        }
        assertThat(found).as("local copies").isEqualTo(count);
    }

    @Test
    void handleOfAnotherStorage_isRefusedByName() {
        ChangelogStateHandleStreamImpl foreign =
                new ChangelogStateHandleStreamImpl(
                        Collections.emptyList(), KEY_GROUPS, 1, 1, "elsewhere");
        assertThatThrownBy(() -> new DstlStorageView(null).createReader().getChanges(foreign))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("'elsewhere'")
                .hasMessageContaining("savepoint");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dstl", "filesystem", "FileSystem"})
    void flinkFindsTheStorageUnderBothNames(String name) throws Exception {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.storage", name);
        StateChangelogStorage<?> storage =
                StateChangelogStorageLoader.load(
                        new JobID(),
                        configuration,
                        UnregisteredMetricGroups.createUnregisteredTaskManagerJobMetricGroup(),
                        TestLocalRecoveryConfig.disabled());
        assertThat(storage).isInstanceOf(DstlStorage.class);
        storage.close();
    }

    @Test
    void tasksAreStoppedThroughTheProviderTheyTookBeforeTheFirstWriter() throws Exception {
        DstlStorage storage =
                storage(
                        configuration(store.basePath().toString())
                                .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(1))
                                .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(1)));
        AvailabilityProvider provider = storage.getAvailabilityProvider();
        ChangelogWriter writer = writer(storage);
        store.failNext(WriteFault.HANG);
        append(writer, "a");
        writer.nextSequenceNumber();
        assertThat(provider.isAvailable()).isFalse();
        store.awaitHanging(1);
        Future<?> goOn = provider.getAvailableFuture();
        store.releaseHanging();
        goOn.get(30, TimeUnit.SECONDS);
        assertThat(provider.isAvailable()).isTrue();
        writer.close();
        storage.close();
    }

    @Test
    void closing_waitsForNothing_cancelsPersists_deletesWhatArrivesLate_andEndsEveryThread()
            throws Exception {
        DstlStorage storage =
                storage(
                        configuration(store.basePath().toString())
                                .set(DstlOptions.PERSIST_DELAY, Duration.ZERO));
        ChangelogWriter writer = writer(storage);
        List<org.apache.flink.core.fs.Path> attempts = new CopyOnWriteArrayList<>();
        store.failBy(
                path -> {
                    attempts.add(path);
                    return WriteFault.HANG;
                });
        append(writer, "a");
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist =
                writer.persist(writer.initialSequenceNumber(), 1);
        store.awaitHanging(1);

        storage.close();

        assertThatThrownBy(persist::get).isInstanceOf(CancellationException.class);
        await(() -> store.requests("delete") > 0);
        store.failAlways(WriteFault.NONE);
        attempts.get(0).getFileSystem().create(attempts.get(0), WriteMode.OVERWRITE).close();
        assertThat(store.segments()).hasSize(1);
        awaitThreadsToEnd();
        assertThat(store.segments()).as("the interrupted attempt's file").isEmpty();
        writer.close();
    }

    @Test
    void uploadWhoseClientReturnsOnlyWhenItsStreamIsClosed_endsAfterTheStorage() throws Exception {
        DstlStorage storage = storage(store.basePath().toString());
        ChangelogWriter writer = writer(storage);
        store.failAlways(WriteFault.HANG_UNTIL_CLOSED);
        append(writer, "a");
        Future<?> persist = writer.persist(writer.initialSequenceNumber(), 1);
        await(() -> store.requests("create") > 0);

        writer.close();
        storage.close();

        assertThatThrownBy(persist::get).isInstanceOf(CancellationException.class);
        awaitThreadsToEnd();
        assertThat(store.segments()).isEmpty();
    }

    @Test
    void afterClose_thereIsNoWriter() throws Exception {
        DstlStorage storage = storage(store.basePath().toString());
        storage.close();
        assertThatThrownBy(() -> writer(storage))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageMatching("The changelog storage of job [0-9a-f]{32} is closed");
        awaitThreadsToEnd();
    }

    /** Permits one attempt and thus one file per segment, even if the disk is briefly slow. */
    private static Configuration configuration(String basePath) {
        return new Configuration()
                .set(DstlOptions.BASE_PATH, basePath)
                .set(DstlOptions.UPLOAD_TIMEOUT, Duration.ZERO)
                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO);
    }

    private static DstlStorage storage(String basePath) {
        return storage(configuration(basePath));
    }

    private static DstlStorage storage(Configuration configuration) {
        return new DstlStorage(new JobID(), configuration, new UnregisteredMetricsGroup());
    }

    private static ChangelogWriter writer(DstlStorage storage) {
        return storage.createWriter("operator", KEY_GROUPS, new SyncMailboxExecutor());
    }

    private static void append(ChangelogWriter writer, String text) throws IOException {
        writer.append(1, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("now").isLessThan(deadline);
            Thread.sleep(10);
        }
    }

    private void awaitThreadsToEnd() throws InterruptedException {
        for (Thread thread : logThreads()) {
            if (!threadsOfOthers.contains(thread)) {
                thread.join(60_000);
                assertThat(thread.isAlive()).as("%s still runs", thread.getName()).isFalse();
            }
        }
    }

    private static Set<Thread> logThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("dstl-"))
                .collect(Collectors.toSet());
    }
}
