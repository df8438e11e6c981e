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

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;

/**
 * The objects behind a simulated store, without any simulated cost. Thread-safe. Keys are slash
 * separated names without a leading slash.
 */
public interface ObjectContent {

    /** Starts a new object, which the caller closes. */
    StagedObject stage() throws IOException;

    /** Returns the visible object with a key. */
    Optional<StoredObject> find(String key) throws IOException;

    /**
     * Opens the bytes {@code [from, length)}; empty if {@code from} is not less than the length.
     * The stream continues to read the same object even if it is replaced or deleted.
     *
     * @throws FileNotFoundException if there is no visible object with the key
     */
    InputStream open(String key, long from) throws IOException;

    /** Deletes an object; returns whether it existed. */
    boolean delete(String key) throws IOException;

    /** Returns all objects whose key starts with {@code prefix}, sorted by key. */
    List<StoredObject> list(String prefix) throws IOException;
}
