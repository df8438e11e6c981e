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

package dev.dstl.log.simulation.store;

import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.function.Supplier;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemKind;
import org.apache.flink.core.fs.Path;

/** Flink's view of a {@link SimulatedStore}, for one client. */
public final class SimulatedFileSystem extends FileSystem {

    static final String SCHEME = "simulated";

    /** The client that reads handles and deletes for the JobManager. */
    public static final String READER = "reader";

    private final URI uri;
    private final String client;
    private final Supplier<SimulatedStore> store;

    /**
     * @param store asked for every call: Flink keeps file systems for longer than a simulation
     *     lasts
     */
    SimulatedFileSystem(URI uri, String client, Supplier<SimulatedStore> store) {
        this.uri = uri;
        this.client = client;
        this.store = store;
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
        return SimulatedOutputStream.open(store.get(), path, client);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        return new SeekableBytes(store.get().read(path));
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return open(path);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        return store.get().delete(path, client);
    }

    @Override
    public boolean exists(Path path) {
        return store.get().exists(path);
    }

    @Override
    public boolean mkdirs(Path path) {
        throw new UnsupportedOperationException("An object store has no directories");
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        store.get().answer();
        throw new FileNotFoundException("An object store has no directory " + path);
    }

    @Override
    public FileStatus[] listStatus(Path path) {
        throw new UnsupportedOperationException("Nobody needs to list " + path);
    }

    @Override
    public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) {
        return new BlockLocation[0];
    }

    @Override
    public boolean rename(Path source, Path target) {
        throw new UnsupportedOperationException("An object store has no rename");
    }

    @Override
    public Path getWorkingDirectory() {
        return new Path(uri.getScheme(), uri.getAuthority(), "/");
    }

    @Override
    public Path getHomeDirectory() {
        return getWorkingDirectory();
    }

    @Override
    public URI getUri() {
        return uri;
    }

    @Override
    public boolean isDistributedFS() {
        return true;
    }

    @Override
    @SuppressWarnings("deprecation") // abstract in Flink 1.20
    public FileSystemKind getKind() {
        return FileSystemKind.OBJECT_STORE;
    }

    private static final class SeekableBytes extends FSDataInputStream {
        private final byte[] bytes;
        private ByteArrayInputStream stream;

        private SeekableBytes(byte[] bytes) {
            this.bytes = bytes;
            this.stream = new ByteArrayInputStream(bytes);
        }

        @Override
        public void seek(long position) {
            stream = new ByteArrayInputStream(bytes);
            stream.skip(position);
        }

        @Override
        public long getPos() {
            return (long) bytes.length - stream.available();
        }

        @Override
        public int read() {
            return stream.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            return stream.read(target, offset, length);
        }
    }
}
