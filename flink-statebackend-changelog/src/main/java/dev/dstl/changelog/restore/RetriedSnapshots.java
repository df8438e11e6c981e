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

package dev.dstl.changelog.restore;

import static org.apache.flink.util.ExceptionUtils.findThrowable;

import dev.dstl.log.api.RestoredFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * Wraps snapshots so that a delegate reads their files through {@link RestoredFiles}, without
 * knowing it. A delegate that downloads incremental snapshots keeps the shared files among them for
 * its next checkpoint; closing this object puts the files themselves back in their place. Should a
 * wrapped file leave the process all the same, it does so as the file itself.
 *
 * <p>Used by the task thread.
 */
final class RetriedSnapshots implements AutoCloseable {

    private final RestoredFiles files;
    private final boolean incremental;
    private final List<HandleAndLocalPath> wrapped = new ArrayList<>();

    /**
     * Creates an object that has wrapped nothing.
     *
     * @param incremental whether files of incremental snapshots are wrapped
     */
    RetriedSnapshots(RestoredFiles files, boolean incremental) {
        this.files = files;
        this.incremental = incremental;
    }

    /** Returns the same snapshots with other files. Leaves the given ones as they are. */
    List<KeyedStateHandle> of(List<KeyedStateHandle> snapshots) {
        return snapshots.stream().map(this::wrap).collect(Collectors.toList());
    }

    private KeyedStateHandle wrap(KeyedStateHandle snapshot) {
        // Not for subclasses, which may have additional fields.
        if (snapshot.getClass() == KeyGroupsStateHandle.class) {
            KeyGroupsStateHandle full = (KeyGroupsStateHandle) snapshot;
            return new KeyGroupsStateHandle(
                    full.getGroupRangeOffsets(), wrapFile(full.getDelegateStateHandle()));
        }
        if (snapshot.getClass() == KeyGroupsSavepointStateHandle.class) {
            KeyGroupsSavepointStateHandle full = (KeyGroupsSavepointStateHandle) snapshot;
            return new KeyGroupsSavepointStateHandle(
                    full.getGroupRangeOffsets(), wrapFile(full.getDelegateStateHandle()));
        }
        if (incremental && snapshot.getClass() == IncrementalRemoteKeyedStateHandle.class) {
            IncrementalRemoteKeyedStateHandle remote = (IncrementalRemoteKeyedStateHandle) snapshot;
            return IncrementalRemoteKeyedStateHandle.restore(
                    remote.getBackendIdentifier(),
                    remote.getKeyGroupRange(),
                    remote.getCheckpointId(),
                    wrapFiles(remote.getSharedState()),
                    wrapFiles(remote.getPrivateState()),
                    wrapFile(remote.getMetaDataStateHandle()),
                    remote.getCheckpointedSize(),
                    remote.getStateHandleId());
        }
        return snapshot;
    }

    private List<HandleAndLocalPath> wrapFiles(List<HandleAndLocalPath> originals) {
        List<HandleAndLocalPath> others = new ArrayList<>(originals.size());
        for (HandleAndLocalPath original : originals) {
            others.add(
                    HandleAndLocalPath.of(wrapFile(original.getHandle()), original.getLocalPath()));
        }
        wrapped.addAll(others);
        return others;
    }

    private StreamStateHandle wrapFile(StreamStateHandle file) {
        return file.getClass() == FileStateHandle.class
                ? new RetriedFileHandle((FileStateHandle) file, files)
                : file;
    }

    /**
     * Returns the failure of a delegate that reads these snapshots such that its causes contain the
     * file that could not be read. After one failure, Flink's RocksDB backend closes the streams of
     * all other files, and reports what fails first then.
     *
     * @param reported by the delegate
     */
    Exception failure(Exception reported) {
        Exception first = files.failure();
        if (first == null || findThrowable(reported, cause -> cause == first).isPresent()) {
            return reported;
        }
        Exception named = new BackendBuildingException(first.getMessage(), first);
        named.addSuppressed(reported);
        return named;
    }

    @Override
    public void close() {
        for (HandleAndLocalPath place : wrapped) {
            if (place.getHandle() instanceof RetriedFileHandle) {
                place.replaceHandle(((RetriedFileHandle) place.getHandle()).file);
            }
        }
    }

    /** A file that stays one for Flink, which looks for a file's path, for instance to copy it. */
    private static final class RetriedFileHandle extends FileStateHandle {

        private static final long serialVersionUID = 1L;

        private final FileStateHandle file;
        private final transient RestoredFiles files;

        private RetriedFileHandle(FileStateHandle file, RestoredFiles files) {
            super(file.getFilePath(), file.getStateSize());
            this.file = file;
            this.files = files;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            return files.open(file);
        }

        private Object writeReplace() {
            return file;
        }
    }
}
