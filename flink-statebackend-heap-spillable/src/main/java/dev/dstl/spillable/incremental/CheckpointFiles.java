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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.runtime.state.AbstractIncrementalStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * The files of an incremental checkpoint that is restored, or of its copy on the local disk. Their
 * names belong to the {@link DirectoryFormat format}.
 */
final class CheckpointFiles {

    /** Name of the {@link DirectoryFormat directory}. */
    static final String DIRECTORY = "directory";

    /** Name of the copy of the file with heap entries and timers. */
    static final String HEAP_ENTRIES = "heap-entries";

    final boolean local;
    final StreamStateHandle directory;
    final StreamStateHandle heapEntries;
    final Map<String, SharedFile> shared = new HashMap<>();

    private CheckpointFiles(
            boolean local, StreamStateHandle directory, StreamStateHandle heapEntries) {
        this.local = local;
        this.directory = directory;
        this.heapEntries = heapEntries;
    }

    /**
     * The files of a checkpoint.
     *
     * @throws IOException if it is a copy that is incomplete
     */
    static CheckpointFiles of(AbstractIncrementalStateHandle handle) throws IOException {
        return handle instanceof IncrementalLocalKeyedStateHandle
                ? local((IncrementalLocalKeyedStateHandle) handle)
                : remote((IncrementalRemoteKeyedStateHandle) handle);
    }

    private static CheckpointFiles remote(IncrementalRemoteKeyedStateHandle handle) {
        CheckpointFiles files =
                new CheckpointFiles(false, directory(handle), handle.getMetaDataStateHandle());
        for (HandleAndLocalPath file : handle.getSharedState()) {
            files.shared.put(
                    file.getLocalPath(), new SharedFile(file.getLocalPath(), file.getHandle()));
        }
        return files;
    }

    private static StreamStateHandle directory(IncrementalRemoteKeyedStateHandle handle) {
        for (HandleAndLocalPath file : handle.getPrivateState()) {
            if (file.getLocalPath().equals(DIRECTORY)) {
                return file.getHandle();
            }
        }
        throw new IllegalStateException(
                String.format(
                        "The spillable backend cannot read an incremental checkpoint of another"
                                + " backend: %s. Take a canonical savepoint to move the job here.",
                        handle));
    }

    private static CheckpointFiles local(IncrementalLocalKeyedStateHandle handle)
            throws IOException {
        Path copy = handle.getDirectoryStateHandle().getDirectory();
        Path directory = copy.resolve(DIRECTORY);
        Path heapEntries = copy.resolve(HEAP_ENTRIES);
        for (Path file : new Path[] {directory, heapEntries}) {
            if (!Files.isRegularFile(file)) {
                throw new IOException(
                        String.format(
                                "The local copy %s of a checkpoint is damaged: '%s' is missing.",
                                copy, file.getFileName()));
            }
        }
        // Without checksums in version 1, and a machine that stops may leave it truncated.
        long expected = handle.getMetaDataStateHandle().getStateSize();
        if (Files.size(heapEntries) != expected) {
            throw new IOException(
                    String.format(
                            "The local copy %s of a checkpoint is damaged: '%s' has %d bytes,"
                                    + " expected %d.",
                            copy, HEAP_ENTRIES, Files.size(heapEntries), expected));
        }
        CheckpointFiles files =
                new CheckpointFiles(true, handle(directory), handle.getMetaDataStateHandle());
        for (HandleAndLocalPath file : handle.getSharedStateHandles()) {
            String name = file.getLocalPath();
            files.shared.put(name, SharedFile.withCopy(name, file.getHandle(), copy.resolve(name)));
        }
        return files;
    }

    private static StreamStateHandle handle(Path file) throws IOException {
        return new FileStateHandle(
                new org.apache.flink.core.fs.Path(file.toUri()), Files.size(file));
    }
}
