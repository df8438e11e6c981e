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

package dev.dstl.log.store;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;

/** The bytes of a segment. May be written several times, also concurrently. */
public interface SegmentContent {

    /** Returns how many bytes {@link #writeTo} writes. */
    long length();

    /**
     * Writes all bytes.
     *
     * @param out not closed by this method
     * @throws IOException if {@code out} throws it
     */
    void writeTo(OutputStream out) throws IOException;

    /**
     * Reports that the stream for the next {@link #writeTo} is open. Closing it from another thread
     * may end a write that hangs.
     *
     * @throws IOException if nothing shall be written any more
     */
    default void opened(Closeable stream) throws IOException {}

    /** Returns whether the write was cancelled, so that its failure says nothing of the store. */
    default boolean isCancelled() {
        return false;
    }
}
