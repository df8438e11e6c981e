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

import dev.dstl.changelog.schema.SnapshotSchema;
import dev.dstl.log.api.RestoredFiles;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedBackendSerializationProxy;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;

/** Reads the schema versions of snapshots from their headers. Used by the task thread. */
final class SnapshotSchemas {

    private static final int BUFFER_BYTES = 16 << 10;

    private final RestoredFiles files;
    private final ClassLoader userClassLoader;
    private final CloseableRegistry cancelRegistry;

    /**
     * Creates a reader.
     *
     * @param files opens the files of snapshots
     * @param userClassLoader loads the job's serializers
     * @param cancelRegistry closes open streams when the task is cancelled
     */
    SnapshotSchemas(
            RestoredFiles files, ClassLoader userClassLoader, CloseableRegistry cancelRegistry) {
        this.files = files;
        this.userClassLoader = userClassLoader;
        this.cancelRegistry = cancelRegistry;
    }

    /**
     * Reads the schema versions of a snapshot.
     *
     * @return null if only the snapshot's own state backend can read it
     * @throws IOException if the snapshot cannot be read
     */
    @Nullable
    SnapshotSchema read(KeyedStateHandle snapshot) throws IOException {
        StreamStateHandle handle = metaData(snapshot);
        if (handle == null) {
            return null;
        }
        FSDataInputStream stream = new BufferedStateStream(open(handle), BUFFER_BYTES);
        try {
            cancelRegistry.registerCloseable(stream);
            KeyedBackendSerializationProxy<?> metaData =
                    new KeyedBackendSerializationProxy<>(userClassLoader);
            metaData.read(new DataInputViewStreamWrapper(stream));
            return new SnapshotSchema(
                    metaData.getKeySerializerSnapshot(), metaData.getStateMetaInfoSnapshots());
        } finally {
            cancelRegistry.unregisterCloseable(stream);
            IOUtils.closeQuietly(stream);
        }
    }

    private FSDataInputStream open(StreamStateHandle handle) throws IOException {
        return handle.getClass() == FileStateHandle.class
                ? files.open((FileStateHandle) handle)
                : handle.openInputStream();
    }

    @Nullable
    private static StreamStateHandle metaData(KeyedStateHandle snapshot) {
        if (snapshot instanceof KeyGroupsStateHandle) {
            return ((KeyGroupsStateHandle) snapshot).getDelegateStateHandle();
        }
        return snapshot instanceof IncrementalKeyedStateHandle
                ? ((IncrementalKeyedStateHandle) snapshot).getMetaDataStateHandle()
                : null;
    }
}
