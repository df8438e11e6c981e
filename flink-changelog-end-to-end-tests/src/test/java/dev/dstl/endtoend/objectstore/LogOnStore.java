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

import static dev.dstl.log.testing.LogFixture.KEY_GROUPS;
import static dev.dstl.log.testing.LogFixture.filesOf;

import dev.dstl.log.DstlStorage;
import dev.dstl.log.api.ChangelogWriter;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.mailbox.SyncMailboxExecutor;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * The changelog storage of one job on one TaskManager, on a store, with every state change in a
 * segment.
 */
final class LogOnStore implements AutoCloseable {

    private final Path basePath;
    private final DstlStorage storage;

    LogOnStore(Path basePath) {
        this(basePath, new Configuration());
    }

    LogOnStore(Path basePath, Configuration more) {
        this.basePath = basePath;
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-path", basePath.toString());
        configuration.setString("state.changelog.dstl.inline-threshold", "0");
        configuration.addAll(more);
        storage = new DstlStorage(new JobID(), configuration, new UnregisteredMetricsGroup());
    }

    ChangelogWriter writer() {
        return storage.createWriter("operator", KEY_GROUPS, new SyncMailboxExecutor());
    }

    /** See {@link DstlStorage#storeProblem}. */
    Optional<String> storeProblem() {
        return storage.storeProblem();
    }

    /** All files below the base path. */
    List<Path> files() throws IOException {
        return filesBelow(basePath);
    }

    /** All files below a directory, which need not exist. */
    static List<Path> filesBelow(Path directory) throws IOException {
        List<Path> files = new ArrayList<>();
        collect(directory.getFileSystem(), directory, files);
        return files;
    }

    private static void collect(FileSystem fileSystem, Path directory, List<Path> files)
            throws IOException {
        FileStatus[] found;
        try {
            found = fileSystem.listStatus(directory);
        } catch (FileNotFoundException nothingWritten) {
            return;
        }
        for (FileStatus file : found) {
            if (file.isDir()) {
                collect(fileSystem, file.getPath(), files);
            } else {
                files.add(file.getPath());
            }
        }
    }

    /** The files that handles name. */
    static Set<Path> named(List<ChangelogStateHandleStreamImpl> handles) {
        return handles.stream()
                .flatMap(handle -> filesOf(handle).stream())
                .map(Path::new)
                .collect(Collectors.toSet());
    }

    @Override
    public void close() {
        storage.close();
    }
}
