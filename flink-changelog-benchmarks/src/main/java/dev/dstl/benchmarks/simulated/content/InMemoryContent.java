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

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Objects on the heap of this process. */
public final class InMemoryContent implements ObjectContent {

    private final ConcurrentNavigableMap<String, Bytes> objects = new ConcurrentSkipListMap<>();

    @Override
    public StagedObject stage() {
        return new Staged();
    }

    @Override
    public Optional<StoredObject> find(String key) {
        return Optional.ofNullable(objects.get(key)).map(found -> found.describe(key));
    }

    @Override
    public InputStream open(String key, long from) throws IOException {
        Bytes found = objects.get(key);
        if (found == null) {
            throw new FileNotFoundException("No object " + key);
        }
        int start = (int) Math.min(from, found.content.length);
        return new ByteArrayInputStream(found.content, start, found.content.length - start);
    }

    @Override
    public boolean delete(String key) {
        return objects.remove(key) != null;
    }

    @Override
    public List<StoredObject> list(String prefix) {
        List<StoredObject> found = new ArrayList<>();
        for (Map.Entry<String, Bytes> entry : objects.tailMap(prefix, true).entrySet()) {
            if (!entry.getKey().startsWith(prefix)) {
                break;
            }
            found.add(entry.getValue().describe(entry.getKey()));
        }
        return found;
    }

    private static final class Bytes {

        private final byte[] content;
        private final long modifiedMillis;

        private Bytes(byte[] content) {
            this.content = content;
            this.modifiedMillis = System.currentTimeMillis();
        }

        private StoredObject describe(String key) {
            return new StoredObject(key, content.length, modifiedMillis);
        }
    }

    private final class Staged implements StagedObject {

        private final ByteArrayOutputStream written = new ByteArrayOutputStream();

        @Override
        public void write(byte[] bytes, int offset, int length) {
            written.write(bytes, offset, length);
        }

        @Override
        public long length() {
            return written.size();
        }

        @Override
        public void publish(String key) {
            objects.put(key, new Bytes(written.toByteArray()));
        }

        @Override
        public void close() {
            written.reset();
        }
    }
}
