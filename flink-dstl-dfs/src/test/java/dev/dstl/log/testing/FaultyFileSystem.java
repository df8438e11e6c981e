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

package dev.dstl.log.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemKind;
import org.apache.flink.core.fs.Path;

/**
 * Flink's view of a {@link FaultyStore}. Like an object store, it shows a file when it is closed.
 */
final class FaultyFileSystem extends FileSystem {

    private final URI uri;
    private final FaultyStore store;

    FaultyFileSystem(URI uri, FaultyStore store) {
        this.uri = uri;
        this.store = store;
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
        store.count("create");
        WriteFault fault = store.faultOf(path);
        if (fault == WriteFault.FAIL_ON_CREATE) {
            throw new IOException("Access denied");
        }
        if (fault == WriteFault.THROTTLE) {
            throw new IOException(
                    "Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error"
                            + " Code: SlowDown)");
        }
        if (store.parentMissing(path)) {
            throw new FileNotFoundException("No directory " + path.getParent());
        }
        return new FaultyOutputStream(path, fault);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        store.count("open");
        store.reading(path);
        byte[] bytes = store.get(path);
        if (bytes == null) {
            throw new FileNotFoundException(path.toString());
        }
        return new SeekableBytes(path, bytes);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return open(path);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        store.count("delete");
        return store.remove(path);
    }

    @Override
    public boolean mkdirs(Path path) {
        store.count("mkdirs");
        store.makeDirectory(path);
        return true;
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        store.count("getFileStatus");
        byte[] bytes = store.get(path);
        if (bytes == null) {
            throw new FileNotFoundException(path.toString());
        }
        return new BytesStatus(path, bytes.length);
    }

    @Override
    public FileStatus[] listStatus(Path path) {
        store.count("list");
        return store.below(path).stream()
                .map(file -> new Path(uri.getScheme(), uri.getAuthority(), file))
                .map(file -> new BytesStatus(file, store.get(file).length))
                .toArray(FileStatus[]::new);
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

    private final class FaultyOutputStream extends FSDataOutputStream {
        private final Path path;
        private final WriteFault fault;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final CountDownLatch closing = new CountDownLatch(1);
        private boolean closed;

        private FaultyOutputStream(Path path, WriteFault fault) {
            this.path = path;
            this.fault = fault;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            if (fault == WriteFault.FAIL_ON_WRITE) {
                throw new IOException("Connection reset");
            }
            if (fault == WriteFault.HANG_UNTIL_CLOSED) {
                DeafWait.on(closing);
                throw new IOException("The stream is closed");
            }
            bytes.write(source, offset, length);
        }

        @Override
        public long getPos() {
            return bytes.size();
        }

        @Override
        public void flush() {}

        @Override
        public void sync() {}

        @Override
        public void close() throws IOException {
            if (closed) {
                return;
            }
            closed = true;
            closing.countDown();
            if (fault == WriteFault.HANG_UNTIL_CLOSED) {
                return;
            }
            if (fault == WriteFault.HANG || fault == WriteFault.HANG_THEN_FAIL) {
                hang();
            }
            if (fault != WriteFault.FAIL_ON_CLOSE && fault != WriteFault.HANG_THEN_FAIL) {
                store.put(path, bytes.toByteArray());
            }
            if (fault == WriteFault.FAIL_ON_CLOSE
                    || fault == WriteFault.HANG_THEN_FAIL
                    || fault == WriteFault.FAIL_ON_CLOSE_BUT_STORE) {
                throw new IOException("Connection reset while closing");
            }
        }

        private void hang() throws IOException {
            try {
                store.hang();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("Interrupted while closing");
            }
        }
    }

    private final class SeekableBytes extends FSDataInputStream {
        private final Path path;
        private final byte[] bytes;
        private final AtomicBoolean closed = new AtomicBoolean();
        private ByteArrayInputStream stream;

        private SeekableBytes(Path path, byte[] bytes) {
            this.path = path;
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
        public long skip(long count) throws IOException {
            store.reading(path);
            return stream.skip(count);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            store.reading(path);
            return stream.read(target, offset, length);
        }

        @Override
        public void close() throws IOException {
            if (closed.compareAndSet(false, true)) {
                store.closing(path);
            }
        }
    }

    private static final class BytesStatus implements FileStatus {
        private final Path path;
        private final long length;

        private BytesStatus(Path path, long length) {
            this.path = path;
            this.length = length;
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
            return 0;
        }

        @Override
        public long getAccessTime() {
            return 0;
        }

        @Override
        public boolean isDir() {
            return false;
        }

        @Override
        public Path getPath() {
            return path;
        }
    }
}
