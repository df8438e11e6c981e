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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;

/**
 * What a JobManager does with checkpoints: registers their shared files when they are acknowledged,
 * retains the last one that has completed, and deletes what no checkpoint needs.
 */
final class CheckpointStore {

    private final Path directory;
    private final SharedStateRegistryImpl registry = new SharedStateRegistryImpl(Runnable::run);
    private final TreeMap<Long, List<KeyedStateHandle>> acknowledged = new TreeMap<>();
    private List<KeyedStateHandle> completed = Collections.emptyList();

    CheckpointStore(Path directory) {
        this.directory = directory;
    }

    /** Every file is one on disk, however short. */
    CheckpointStreamFactory streams() {
        org.apache.flink.core.fs.Path path = new org.apache.flink.core.fs.Path(directory.toUri());
        return new FsCheckpointStreamFactory(
                FileSystem.getLocalFileSystem(),
                new org.apache.flink.core.fs.Path(path, "exclusive"),
                new org.apache.flink.core.fs.Path(path, "shared"),
                0,
                4096);
    }

    void acknowledge(long id, List<KeyedStateHandle> handles) {
        handles.forEach(handle -> handle.registerSharedStates(registry, id));
        acknowledged.put(id, handles);
    }

    /** Completes one that was acknowledged; older ones are given up. */
    List<KeyedStateHandle> complete(long id) throws Exception {
        List<KeyedStateHandle> former = completed;
        completed = acknowledged.remove(id);
        registry.checkpointCompleted(id);
        while (!acknowledged.isEmpty() && acknowledged.firstKey() < id) {
            abort(acknowledged.firstKey());
        }
        registry.unregisterUnusedState(id);
        discard(former);
        return completed;
    }

    void abort(long id) throws Exception {
        List<KeyedStateHandle> handles = acknowledged.remove(id);
        if (handles != null) {
            discard(handles);
        }
    }

    private static void discard(List<KeyedStateHandle> handles) throws Exception {
        for (KeyedStateHandle handle : handles) {
            handle.discardState();
        }
    }

    List<KeyedStateHandle> completed() {
        return completed;
    }

    /** Names of the files to which handles refer. */
    static Set<String> files(List<KeyedStateHandle> handles) {
        List<StreamStateHandle> streams = new ArrayList<>();
        for (KeyedStateHandle handle : handles) {
            if (handle instanceof IncrementalRemoteKeyedStateHandle) {
                ((IncrementalRemoteKeyedStateHandle) handle)
                        .streamSubHandles()
                        .forEach(streams::add);
            } else {
                streams.add(((KeyGroupsStateHandle) handle).getDelegateStateHandle());
            }
        }
        return streams.stream()
                .map(stream -> ((FileStateHandle) stream).getFilePath().getName())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static Path path(StreamStateHandle handle) {
        return Paths.get(((FileStateHandle) handle).getFilePath().getPath());
    }

    /** Names of the files on disk. */
    Set<String> filesOnDisk() {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
