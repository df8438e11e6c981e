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

import java.io.Closeable;
import java.io.IOException;

/**
 * An object that is being written, and invisible until it is published. Used and closed by the
 * thread that writes it.
 */
public interface StagedObject extends Closeable {

    /** Appends a copy of {@code bytes[offset, offset + length)}. */
    void write(byte[] bytes, int offset, int length) throws IOException;

    /** Returns the number of bytes written so far. */
    long length();

    /**
     * Atomically makes the bytes visible under {@code key}, replacing an existing object. Called at
     * most once.
     */
    void publish(String key) throws IOException;

    /** Frees the bytes if they were not published. No effect the second time. */
    @Override
    void close() throws IOException;
}
