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

package dev.dstl.benchmarks.simulated.content;

import java.io.BufferedOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Objects as files under a directory, so that several processes see the same store. An object is
 * written beside the visible tree and moved in atomically. Directories left empty stay and are
 * invisible. One limit real stores do not have: a key cannot also be the "directory" of another.
 */
public final class DirectoryContent implements ObjectContent {

    private final Path objects;
    private final Path staging;

    /**
     * Creates content in a directory.
     *
     * @param objects directory of visible objects; created if it does not exist
     * @param staging directory of unpublished bytes; on the same file system as {@code objects}
     */
    public DirectoryContent(Path objects, Path staging) throws IOException {
        this.objects = Files.createDirectories(objects);
        this.staging = Files.createDirectories(staging);
    }

    @Override
    public StagedObject stage() throws IOException {
        return new Staged(staging.resolve(UUID.randomUUID().toString()));
    }

    @Override
    public Optional<StoredObject> find(String key) throws IOException {
        Path file = fileOf(key);
        if (!Files.isRegularFile(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    describe(file, Files.readAttributes(file, BasicFileAttributes.class)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    @Override
    public InputStream open(String key, long from) throws IOException {
        Path file = fileOf(key);
        if (!Files.isRegularFile(file)) {
            throw new FileNotFoundException("No object " + key);
        }
        try {
            SeekableByteChannel channel = Files.newByteChannel(file);
            channel.position(from);
            return Channels.newInputStream(channel);
        } catch (NoSuchFileException e) {
            throw new FileNotFoundException("No object " + key);
        }
    }

    @Override
    public boolean delete(String key) throws IOException {
        Path file = fileOf(key);
        return Files.isRegularFile(file) && Files.deleteIfExists(file);
    }

    @Override
    public List<StoredObject> list(String prefix) throws IOException {
        List<StoredObject> found = new ArrayList<>();
        Path start = objects.resolve(prefix.substring(0, prefix.lastIndexOf('/') + 1)).normalize();
        if (Files.isDirectory(start)) {
            Files.walkFileTree(start, new Collector(prefix, found));
        }
        found.sort(Comparator.comparing(StoredObject::key));
        return found;
    }

    private Path fileOf(String key) throws IOException {
        Path file = objects.resolve(key).normalize();
        if (key.isEmpty() || !file.startsWith(objects)) {
            throw new IOException("Not a key of an object: '" + key + "'");
        }
        return file;
    }

    private StoredObject describe(Path file, BasicFileAttributes attributes) {
        String key = objects.relativize(file).toString().replace('\\', '/');
        return new StoredObject(key, attributes.size(), attributes.lastModifiedTime().toMillis());
    }

    /** Collects the objects of a prefix; ignores files that are deleted during the walk. */
    private final class Collector extends SimpleFileVisitor<Path> {

        private final String prefix;
        private final List<StoredObject> found;

        private Collector(String prefix, List<StoredObject> found) {
            this.prefix = prefix;
            this.found = found;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            StoredObject object = describe(file, attributes);
            if (object.key().startsWith(prefix)) {
                found.add(object);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (failure instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw failure;
        }
    }

    private final class Staged implements StagedObject {

        private final Path file;
        private final OutputStream out;
        private long length;

        private Staged(Path file) throws IOException {
            this.file = file;
            this.out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            out.write(bytes, offset, count);
            length += count;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public void publish(String key) throws IOException {
            Path target = fileOf(key);
            out.close();
            Files.createDirectories(target.getParent());
            Files.move(
                    file,
                    target,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }

        @Override
        public void close() throws IOException {
            try {
                out.close();
            } finally {
                Files.deleteIfExists(file);
            }
        }
    }
}
