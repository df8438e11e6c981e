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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.Gauges;
import dev.dstl.spillable.LoggedLines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Incremental checkpoints have copies on the local disk, from which a task restores alone. */
class LocalRecoveryTest extends IncrementalFixture {

    private static final int KEYS = 4_000;

    @TempDir Path disk;
    private LocalStore local;
    private final Gauges gauges = new Gauges();
    private long lastId;
    private String suffix = "";

    private LocalStore local() {
        if (local == null) {
            local = new LocalStore(disk);
        }
        return local;
    }

    @Override
    Environment environment() {
        return local().environment();
    }

    @Override
    MetricGroup metrics() {
        return gauges;
    }

    @Override
    void completed(long id, SnapshotResult<KeyedStateHandle> checkpoint) {
        local.store(id, checkpoint);
        local.confirm(id);
        lastId = id;
    }

    /** Leaves a completed checkpoint with shared files and with changes since. */
    private void fill() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            put(key, value(key));
        }
        settledCheckpoint();
        change();
        checkpoint();
    }

    private void change() throws Exception {
        suffix += "!";
        put(7, value(7));
    }

    private String value(int key) {
        return "a value of some length " + key + (key == 7 ? suffix : "");
    }

    private void verify() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            assertThat(get(key)).isEqualTo(value(key));
        }
    }

    private List<KeyedStateHandle> copy() {
        return Collections.singletonList(local.retrieve(lastId));
    }

    private static long shared(KeyedStateHandle remote) {
        return ((IncrementalRemoteKeyedStateHandle) remote).getSharedState().size();
    }

    private void loseTheCheckpointStorage() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
                Files.delete(file);
            }
        }
    }

    @Test
    void taskThatComesBack_readsTheLocalDiskOnly_andRefersToTheCheckpointsFiles() throws Exception {
        fill();
        loseTheCheckpointStorage();

        start(copy());

        verify();
        KeyedStateHandle next = write(nextId(), CheckpointType.CHECKPOINT);
        assertThat(shared(next)).isPositive();
        assertThat(((IncrementalRemoteKeyedStateHandle) next).getSharedState())
                .allMatch(file -> file.getHandle() instanceof PlaceholderStreamStateHandle);
    }

    @Test
    void taskThatComesBackAgainAndAgain_readsTheLocalDiskOnly() throws Exception {
        fill();
        for (int i = 0; i < 3; i++) {
            start(copy());
            change();
            checkpoint();
        }
        loseTheCheckpointStorage();

        start(copy());

        verify();
    }

    @Test
    void fileThatCheckpointsShare_isOnTheDiskOnce() throws Exception {
        fill();
        Path former = LocalStore.directory(local.retrieve(lastId));

        SnapshotResult<KeyedStateHandle> next = snapshot(nextId(), CheckpointType.CHECKPOINT);

        Path copy = LocalStore.directory(next.getTaskLocalSnapshot());
        IncrementalLocalKeyedStateHandle handle =
                (IncrementalLocalKeyedStateHandle) next.getTaskLocalSnapshot();
        assertThat(handle.getSharedStateHandles())
                .isNotEmpty()
                .allSatisfy(
                        file ->
                                assertThat(
                                                Files.isSameFile(
                                                        former.resolve(file.getLocalPath()),
                                                        copy.resolve(file.getLocalPath())))
                                        .isTrue());
        assertThat(handle.getStateSize())
                .isEqualTo(next.getJobManagerOwnedSnapshot().getStateSize());
    }

    @Test
    void checkpointThatCompletes_deletesTheCopiesOfEarlierOnes() throws Exception {
        fill();
        change();
        checkpoint();

        Path copy = LocalStore.directory(local.retrieve(lastId));

        assertThat(local.files()).isNotEmpty().allMatch(file -> file.startsWith(copy));
    }

    @Test
    void checkpointThatIsAborted_leavesNoCopy() throws Exception {
        fill();
        TreeSet<Path> before = new TreeSet<>(local.files());
        long stored = nextId();
        local.store(stored, snapshot(stored, CheckpointType.CHECKPOINT));
        long late = nextId();
        SnapshotResult<KeyedStateHandle> tooLate = snapshot(late, CheckpointType.CHECKPOINT);
        assertThat(local.files().size()).isGreaterThan(before.size());

        local.abort(stored);
        backend.notifyCheckpointAborted(stored);
        tooLate.discardState();

        assertThat(local.files()).isEqualTo(before);
        start(copy());
        verify();
    }

    @Test
    void checkpointWhoseFilesCannotBeWritten_leavesNoCopy() throws Exception {
        fill();
        TreeSet<Path> before = new TreeSet<>(local.files());
        Path exclusive = directory.resolve("exclusive");
        Path aside = Files.move(exclusive, directory.resolve("aside"));
        Files.createFile(exclusive);

        assertThatThrownBy(() -> snapshot(nextId(), CheckpointType.CHECKPOINT))
                .hasRootCauseInstanceOf(IOException.class);

        assertThat(local.files()).isEqualTo(before);
        Files.delete(exclusive);
        Files.move(aside, exclusive);
    }

    @Test
    void diskThatTakesNoFiles_costsTheCopyOnly_countedAndLoggedOnce() throws Exception {
        fill();
        long copies = (Long) gauges.value("localCopiesTotal");
        Path subtask = local.subtaskDirectory();
        Path aside = Files.move(subtask, disk.resolve("aside"));
        Files.createFile(subtask);

        try (LoggedLines warnings = new LoggedLines(LocalBackup.class, Level.WARN)) {
            for (int i = 0; i < 3; i++) {
                SnapshotResult<KeyedStateHandle> result =
                        snapshot(nextId(), CheckpointType.CHECKPOINT);
                assertThat(result.getJobManagerOwnedSnapshot()).isNotNull();
                assertThat(result.getTaskLocalSnapshot()).isNull();
            }
            assertThat(warnings.lines())
                    .hasSize(1)
                    .allMatch(line -> line.contains("is not copied to " + subtask));
        }
        assertThat(gauges.value("localCopyFailuresTotal")).isEqualTo(3L);
        assertThat(gauges.value("localCopiesTotal")).isEqualTo(copies);
        Files.delete(subtask);
        Files.move(aside, subtask);
        change();
        checkpoint();
        assertThat(gauges.value("localCopiesTotal")).isEqualTo(copies + 1);
        loseTheCheckpointStorage();
        start(copy());
        verify();
    }

    @Test
    void copyThatIsDamagedOrIncomplete_isRefused_andTheCheckpointRestored() throws Exception {
        fill();
        Path copy = LocalStore.directory(local.retrieve(lastId));
        List<Path> files;
        try (Stream<Path> all = Files.list(copy)) {
            files = all.collect(Collectors.toList());
        }
        assertThat(files).hasSizeGreaterThanOrEqualTo(3);
        for (Path file : files) {
            byte[] bytes = Files.readAllBytes(file);
            Files.write(file, new byte[bytes.length - 1]);
            expectRefusal();
            Files.delete(file);
            expectRefusal();
            Files.write(file, bytes);
        }
        start(copy());
        verify();

        Files.delete(copy.resolve(CheckpointFiles.DIRECTORY));
        expectRefusal();
        start(store.completed());

        verify();
    }

    @Test
    void copyOfHeapEntriesWithAFlippedBit_isRefused() throws Exception {
        fill();
        Path entries =
                LocalStore.directory(local.retrieve(lastId)).resolve(CheckpointFiles.HEAP_ENTRIES);
        byte[] bytes = Files.readAllBytes(entries);
        for (int offset = 0; offset < bytes.length; offset += 1 + bytes.length / 12) {
            bytes[offset] ^= 4;
            Files.write(entries, bytes);
            expectRefusal();
            bytes[offset] ^= 4;
        }
        Files.write(entries, bytes);
        start(copy());
        verify();
    }

    private void expectRefusal() {
        assertThatThrownBy(() -> start(copy())).isInstanceOf(BackendBuildingException.class);
    }

    @Test
    void taskThatWasRestoredFromTheCheckpointStorage_copiesAllFilesAgain() throws Exception {
        fill();
        local.dispose();
        local = new LocalStore(disk);
        start(store.completed());
        change();
        checkpoint();
        loseTheCheckpointStorage();

        start(copy());

        verify();
    }

    @Test
    void processThatIsRestarted_findsTheCopiesOnItsDisk() throws Exception {
        fill();
        local.restartProcess();
        loseTheCheckpointStorage();

        start(copy());

        verify();
    }

    @Test
    void severalDisks_copiesOfABackendAreOnOneOfThem() throws Exception {
        local = new LocalStore(disk.resolve("1"), disk.resolve("2"), disk.resolve("3"));
        start(Collections.emptyList());
        fill();
        for (int i = 0; i < 6; i++) {
            Path former = LocalStore.directory(local.retrieve(lastId));
            change();
            checkpoint();
            Path copy = LocalStore.directory(local.retrieve(lastId));
            assertThat(copy).startsWith(disk.resolve(disk.relativize(former).getName(0)));
            assertThat(local.files()).isNotEmpty().allMatch(file -> file.startsWith(copy));
            assertThat(former).doesNotExist();
        }
        loseTheCheckpointStorage();

        start(copy());

        verify();
    }

    @Test
    void savepoint_isNotCopied() throws Exception {
        fill();

        assertThat(
                        snapshot(nextId(), SavepointType.savepoint(SavepointFormatType.NATIVE))
                                .getTaskLocalSnapshot())
                .isNull();
    }
}
