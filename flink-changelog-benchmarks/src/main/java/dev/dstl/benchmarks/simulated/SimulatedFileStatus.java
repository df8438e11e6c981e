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

package dev.dstl.benchmarks.simulated;

import dev.dstl.benchmarks.simulated.content.StoredObject;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/** File status of an object or a prefix. Immutable. */
final class SimulatedFileStatus implements FileStatus {

    private final Path path;
    private final long length;
    private final long modifiedMillis;
    private final boolean directory;

    private SimulatedFileStatus(Path path, long length, long modifiedMillis, boolean directory) {
        this.path = path;
        this.length = length;
        this.modifiedMillis = modifiedMillis;
        this.directory = directory;
    }

    static FileStatus file(Path path, StoredObject object) {
        return new SimulatedFileStatus(path, object.length(), object.modifiedMillis(), false);
    }

    static FileStatus directory(Path path) {
        return new SimulatedFileStatus(path, 0, 0, true);
    }

    @Override
    public long getLen() {
        return length;
    }

    @Override
    public long getBlockSize() {
        return length;
    }

    @Override
    public short getReplication() {
        return 1;
    }

    @Override
    public long getModificationTime() {
        return modifiedMillis;
    }

    @Override
    public long getAccessTime() {
        return 0;
    }

    @Override
    public boolean isDir() {
        return directory;
    }

    @Override
    public Path getPath() {
        return path;
    }

    /** An object is one block, on no host in particular. */
    static final class WholeFile implements BlockLocation {

        private final long length;

        WholeFile(long length) {
            this.length = length;
        }

        @Override
        public String[] getHosts() {
            return new String[0];
        }

        @Override
        public long getOffset() {
            return 0;
        }

        @Override
        public long getLength() {
            return length;
        }

        @Override
        public int compareTo(BlockLocation other) {
            return Long.compare(getOffset(), other.getOffset());
        }
    }
}
