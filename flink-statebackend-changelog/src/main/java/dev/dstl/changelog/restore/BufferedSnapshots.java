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

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PhysicalStateHandleID;
import org.apache.flink.runtime.state.StreamStateHandle;

/** Wraps snapshots so that a delegate reads them in large chunks. */
final class BufferedSnapshots {

    private static final int BUFFER_BYTES = 64 << 10;

    private BufferedSnapshots() {}

    /**
     * Returns the same snapshots with buffered streams. Only full snapshots are buffered; files of
     * others are copied by the delegate.
     */
    static List<KeyedStateHandle> of(List<KeyedStateHandle> snapshots) {
        return snapshots.stream().map(BufferedSnapshots::of).collect(Collectors.toList());
    }

    private static KeyedStateHandle of(KeyedStateHandle snapshot) {
        // Not for subclasses, which may have additional fields.
        if (snapshot.getClass() == KeyGroupsStateHandle.class) {
            KeyGroupsStateHandle full = (KeyGroupsStateHandle) snapshot;
            return new KeyGroupsStateHandle(full.getGroupRangeOffsets(), buffered(full));
        }
        if (snapshot.getClass() == KeyGroupsSavepointStateHandle.class) {
            KeyGroupsSavepointStateHandle full = (KeyGroupsSavepointStateHandle) snapshot;
            return new KeyGroupsSavepointStateHandle(full.getGroupRangeOffsets(), buffered(full));
        }
        return snapshot;
    }

    private static StreamStateHandle buffered(KeyGroupsStateHandle snapshot) {
        return new BufferedHandle(snapshot.getDelegateStateHandle());
    }

    private static final class BufferedHandle implements StreamStateHandle {

        private static final long serialVersionUID = 1L;

        private final StreamStateHandle handle;

        private BufferedHandle(StreamStateHandle handle) {
            this.handle = handle;
        }

        @Override
        public FSDataInputStream openInputStream() throws IOException {
            return new BufferedStateStream(handle.openInputStream(), BUFFER_BYTES);
        }

        @Override
        public Optional<byte[]> asBytesIfInMemory() {
            return handle.asBytesIfInMemory();
        }

        @Override
        public PhysicalStateHandleID getStreamStateHandleID() {
            return handle.getStreamStateHandleID();
        }

        @Override
        public void discardState() throws Exception {
            handle.discardState();
        }

        @Override
        public long getStateSize() {
            return handle.getStateSize();
        }

        @Override
        public String toString() {
            return handle.toString();
        }
    }
}
