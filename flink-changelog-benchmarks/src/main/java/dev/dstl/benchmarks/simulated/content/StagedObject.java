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
 * An object in the making, visible to nobody until it is published. Belongs to the thread that
 * writes it, which closes it in any case.
 */
public interface StagedObject extends Closeable {

    /** Appends a copy of {@code length} bytes starting at {@code offset}. */
    void write(byte[] bytes, int offset, int length) throws IOException;

    /** Bytes written so far. */
    long length();

    /**
     * Makes the bytes visible under {@code key} as a whole, replacing what was there. At most once.
     */
    void publish(String key) throws IOException;

    /** Frees what was not published. Idempotent. */
    @Override
    void close() throws IOException;
}
