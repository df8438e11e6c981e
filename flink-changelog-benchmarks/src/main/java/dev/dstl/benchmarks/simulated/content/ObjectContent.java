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

    /** Starts a new object; the caller closes it. */
    StagedObject stage() throws IOException;

    /** The visible object of that name, if there is one. */
    Optional<StoredObject> find(String key) throws IOException;

    /**
     * Opens the bytes {@code [from, length)}; empty when {@code from} is at or behind the end. The
     * stream keeps reading the object it opened even if that is replaced or deleted meanwhile.
     *
     * @throws FileNotFoundException if no such object is visible
     */
    InputStream open(String key, long from) throws IOException;

    /** Removes an object; returns whether there was one. */
    boolean delete(String key) throws IOException;

    /** All objects whose key starts with {@code prefix}, in the order of their keys. */
    List<StoredObject> list(String prefix) throws IOException;
}
