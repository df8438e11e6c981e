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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.fixture.FakeJobManager;
import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.log.DstlStorage;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.TestTaskStateManager;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.storage.FileSystemCheckpointStorage;
import org.apache.flink.state.changelog.ChangelogStateBackend;

/**
 * A checkpoint or savepoint with all its files, in a zip file that later versions of DSTL and Flink
 * read. Its paths are those of a mounted directory, so that it can be unpacked anywhere.
 */
final class GoldenCheckpoint {

    static final KeyGroupRange ALL = KeyGroupRange.of(0, TestTask.KEY_GROUPS - 1);

    /** Most of the lists and maps of the spillable heap are in files that checkpoints share. */
    static final long LEAST_SHARED_BYTES = 100_000;

    private static final String METADATA = "_metadata";
    private static final String CONTENTS = "contents.txt";

    private final Path directory;
    private final String uri;

    /** Makes {@code directory} available under a fixed path. */
    GoldenCheckpoint(Path directory) {
        this.directory = directory;
        this.uri = GuardedFileSystem.mount(directory);
    }

    /** Starts a task with its files in the directory. */
    TestTask start(Delegate delegate, FakeJobManager jobManager, List<KeyedStateHandle> restored)
            throws Exception {
        return TestTask.start(
                directory,
                new ChangelogStateBackend(TestTask.delegate(directory, delegate)),
                TestTaskStateManager.builder().setStateChangelogStorage(log()).build(),
                checkpoints(),
                jobManager,
                restored);
    }

    private StateChangelogStorage<?> log() {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-path", uri + "log");
        configuration.setString("state.changelog.dstl.inline-threshold", "0");
        return new DstlStorage(new JobID(), configuration, new UnregisteredMetricsGroup());
    }

    private CheckpointStorageAccess checkpoints() throws IOException {
        CheckpointStorageAccess access =
                new FileSystemCheckpointStorage(URI.create(uri + "checkpoints"), 0)
                        .createCheckpointStorage(new JobID());
        access.initializeBaseLocationsForCheckpoint();
        return access;
    }

    /** Changes the state of a task. */
    static void change(TestTask task, Delegate delegate, int round) throws Exception {
        new EveryState(task).change(round, ALL);
        if (hasLargeStates(delegate)) {
            new LargeStates(task).change(round);
        }
    }

    /** Returns the state of a task. */
    static String contentsOf(TestTask task, Delegate delegate) throws Exception {
        Map<String, Object> contents = new TreeMap<>(new EveryState(task).contents(ALL));
        if (hasLargeStates(delegate)) {
            contents.putAll(new LargeStates(task).contents());
        }
        StringBuilder text = new StringBuilder();
        contents.forEach(
                (name, value) -> text.append(name).append(": ").append(value).append('\n'));
        return text.toString();
    }

    private static boolean hasLargeStates(Delegate delegate) {
        return delegate == Delegate.SPILLABLE_INCREMENTAL;
    }

    /** Returns the path of a checkpoint's metadata, next to its files. */
    Path metadata(long checkpointId) throws IOException {
        String name = "chk-" + checkpointId;
        Path own = find(name).orElse(directory.resolve(name));
        return Files.createDirectories(own).resolve(METADATA);
    }

    /** Packs the directory. */
    void pack(Path zip, String contents) throws IOException {
        Files.writeString(directory.resolve(CONTENTS), contents);
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
            for (Path file : files()) {
                String name = directory.relativize(file).toString();
                if (!name.startsWith("state-")) {
                    ZipEntry entry = new ZipEntry(name);
                    entry.setTime(0);
                    out.putNextEntry(entry);
                    Files.copy(file, out);
                    out.closeEntry();
                }
            }
        }
    }

    /** Unpacks a zip file of the class path into the directory. */
    void unpack(String name) throws IOException {
        try (InputStream packed = GoldenCheckpoint.class.getResourceAsStream("/golden/" + name)) {
            assertThat(packed).as(name).isNotNull();
            ZipInputStream zip = new ZipInputStream(packed);
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Path file = directory.resolve(entry.getName());
                Files.createDirectories(file.getParent());
                Files.copy(zip, file);
            }
        }
    }

    /** Returns the expected state. */
    String contents() throws IOException {
        return Files.readString(directory.resolve(CONTENTS));
    }

    /** Returns the handles of the task, as read by a JobManager. */
    List<KeyedStateHandle> handles() throws IOException {
        Path metadata = find(METADATA).orElseThrow();
        String pointer = uri + directory.relativize(metadata.getParent());
        try (DataInputStream in = new DataInputStream(Files.newInputStream(metadata))) {
            CheckpointMetadata checkpoint =
                    Checkpoints.loadCheckpointMetadata(
                            in, GoldenCheckpoint.class.getClassLoader(), pointer);
            List<KeyedStateHandle> handles = new ArrayList<>();
            checkpoint
                    .getOperatorStates()
                    .forEach(
                            operator ->
                                    operator.getStates()
                                            .forEach(
                                                    subtask ->
                                                            handles.addAll(
                                                                    subtask
                                                                            .getManagedKeyedState())));
            return handles;
        }
    }

    /** Returns the length of the files of a checkpoint that later ones may share. */
    static long sharedBytes(KeyedStateHandle checkpoint) {
        return ((ChangelogStateBackendHandle) checkpoint)
                .getMaterializedStateHandles().stream()
                        .map(IncrementalRemoteKeyedStateHandle.class::cast)
                        .flatMap(base -> base.getSharedState().stream())
                        .mapToLong(file -> file.getHandle().getStateSize())
                        .sum();
    }

    private Optional<Path> find(String name) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(file -> file.endsWith(name)).findFirst();
        }
    }

    private List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(directory)) {
            all.filter(Files::isRegularFile).sorted().forEach(files::add);
        }
        return files;
    }
}
