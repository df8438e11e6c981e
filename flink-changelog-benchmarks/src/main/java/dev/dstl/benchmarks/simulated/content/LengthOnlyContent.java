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

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Objects of which only name and length are stored, for benchmarks that write more than fits into
 * memory and read nothing.
 */
public final class LengthOnlyContent implements ObjectContent {

    private final ConcurrentNavigableMap<String, StoredObject> objects =
            new ConcurrentSkipListMap<>();

    @Override
    public StagedObject stage() {
        return new Staged();
    }

    @Override
    public Optional<StoredObject> find(String key) {
        return Optional.ofNullable(objects.get(key));
    }

    @Override
    public InputStream open(String key, long from) throws IOException {
        throw new IOException("Only the length of this object was kept: " + key);
    }

    @Override
    public boolean delete(String key) {
        return objects.remove(key) != null;
    }

    @Override
    public List<StoredObject> list(String prefix) {
        List<StoredObject> found = new ArrayList<>();
        for (Map.Entry<String, StoredObject> entry : objects.tailMap(prefix, true).entrySet()) {
            if (!entry.getKey().startsWith(prefix)) {
                break;
            }
            found.add(entry.getValue());
        }
        return found;
    }

    private final class Staged implements StagedObject {

        private long length;

        @Override
        public void write(byte[] bytes, int offset, int count) {
            length += count;
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public void publish(String key) {
            objects.put(key, new StoredObject(key, length, System.currentTimeMillis()));
        }

        @Override
        public void close() {}
    }
}
