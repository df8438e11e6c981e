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
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemKind;
import org.apache.flink.core.fs.Path;

/**
 * A Flink file system that sends the requests a careful client of an object store would send, and
 * no others. Thread-safe; its calls block for as long as the store takes.
 *
 * <pre>
 *  create(OVERWRITE) + close()   PUT in close()      mkdirs                  no request
 *  create(NO_OVERWRITE)          HEAD at once        delete of an object     DELETE
 *  open + read                   GET at first read   delete, not recursive,
 *  getFileStatus of an object    HEAD                    of no object        DELETE, LIST
 *  getFileStatus otherwise       HEAD, LIST          delete, recursive       LIST, n DELETE
 *  listStatus                    LIST (1000 names)   rename of an object     LIST, PUT, DELETE
 * </pre>
 *
 * <p>Directories are prefixes: they exist while an object lies under them.
 */
public final class SimulatedFileSystem extends FileSystem {

    private final URI uri;
    private final SimulatedObjectStore store;

    SimulatedFileSystem(URI uri, SimulatedObjectStore store) {
        this.uri = uri;
        this.store = store;
    }

    /** Returns the store of this file system. */
    public SimulatedObjectStore store() {
        return store;
    }

    @Override
    public URI getUri() {
        return uri;
    }

    @Override
    public Path getWorkingDirectory() {
        return new Path(uri.resolve("/"));
    }

    @Override
    public Path getHomeDirectory() {
        return getWorkingDirectory();
    }

    @Override
    public boolean isDistributedFS() {
        return true;
    }

    @Override
    @SuppressWarnings("deprecation") // abstract in Flink 1.20, so there is no way around it
    public FileSystemKind getKind() {
        return FileSystemKind.OBJECT_STORE;
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
        String key = objectKey(path);
        if (mode == WriteMode.NO_OVERWRITE && store.head(key).isPresent()) {
            throw new IOException("Object exists already: " + path);
        }
        return new SimulatedOutputStream(store, key);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return open(path);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        return new SimulatedInputStream(store, objectKey(path));
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        String key = key(path);
        if (key.isEmpty()) {
            return SimulatedFileStatus.directory(path);
        }
        Optional<StoredObject> object = store.head(key);
        if (object.isPresent()) {
            return SimulatedFileStatus.file(path, object.get());
        }
        if (store.list(key + "/").isEmpty()) {
            throw new FileNotFoundException("Neither an object nor a prefix of one: " + path);
        }
        return SimulatedFileStatus.directory(path);
    }

    @Override
    public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) {
        return new BlockLocation[] {new SimulatedFileStatus.WholeFile(file.getLen())};
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        String prefix = directoryPrefix(key(path));
        Map<String, FileStatus> children = new LinkedHashMap<>();
        for (StoredObject object : store.list(prefix)) {
            String rest = object.key().substring(prefix.length());
            int slash = rest.indexOf('/');
            String name = slash < 0 ? rest : rest.substring(0, slash);
            Path child = new Path(path, name);
            children.putIfAbsent(
                    name,
                    slash < 0
                            ? SimulatedFileStatus.file(child, object)
                            : SimulatedFileStatus.directory(child));
        }
        return children.values().toArray(new FileStatus[0]);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        String key = key(path);
        return recursive ? deletePrefix(key) : deleteObject(key, path);
    }

    private boolean deletePrefix(String key) throws IOException {
        boolean any = false;
        for (StoredObject object : objectAndThoseUnder(key)) {
            any |= store.delete(object.key());
        }
        return any;
    }

    private boolean deleteObject(String key, Path path) throws IOException {
        if (!key.isEmpty() && store.delete(key)) {
            return true;
        }
        if (!store.list(directoryPrefix(key)).isEmpty()) {
            throw new IOException("Not deleted, since objects lie under it: " + path);
        }
        return false;
    }

    /** Has no effect: on an object store a directory exists as soon as it contains an object. */
    @Override
    public boolean mkdirs(Path path) {
        return true;
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        String source = objectKey(from);
        String target = objectKey(to);
        List<StoredObject> objects = objectAndThoseUnder(source);
        for (StoredObject object : objects) {
            store.copy(object.key(), target + object.key().substring(source.length()));
            store.delete(object.key());
        }
        return !objects.isEmpty();
    }

    private List<StoredObject> objectAndThoseUnder(String key) throws IOException {
        String prefix = directoryPrefix(key);
        List<StoredObject> found = new ArrayList<>();
        for (StoredObject object : store.list(key)) {
            if (object.key().equals(key) || object.key().startsWith(prefix)) {
                found.add(object);
            }
        }
        return found;
    }

    private String objectKey(Path path) throws IOException {
        String key = key(path);
        if (key.isEmpty()) {
            throw new IOException("The root of a store is not an object: " + path);
        }
        return key;
    }

    private static String key(Path path) {
        String name = path.toUri().getPath();
        return name.startsWith(Path.SEPARATOR) ? name.substring(1) : name;
    }

    private static String directoryPrefix(String key) {
        return key.isEmpty() ? "" : key + "/";
    }
}
