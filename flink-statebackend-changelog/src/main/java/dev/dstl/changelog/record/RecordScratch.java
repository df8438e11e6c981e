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

package dev.dstl.changelog.record;

import org.apache.flink.core.memory.DataOutputSerializer;

/** The reused buffer in which records are built, one after the other. For one thread at a time. */
final class RecordScratch {

    private static final int INITIAL_BYTES = 256;

    /** Memory above this size, which a huge value needed, is released at once. */
    private static final int MAX_RETAINED_BYTES = 1 << 20;

    private DataOutputSerializer buffer = new DataOutputSerializer(INITIAL_BYTES);

    private boolean unfinished;

    /**
     * Returns the empty buffer for the next record. It is a new one if the last record was not
     * {@linkplain #end ended}, because something was thrown while it was built: Flink's serializer
     * for Kryo then keeps part of the value and refuses to write to the same buffer again.
     */
    DataOutputSerializer begin() {
        if (unfinished) {
            buffer = new DataOutputSerializer(INITIAL_BYTES);
        } else {
            buffer.clear();
        }
        unfinished = true;
        return buffer;
    }

    /** Returns the buffer with the record as far as it is built. */
    DataOutputSerializer record() {
        return buffer;
    }

    /** Ends the record, which is lost then, and releases memory that only a huge value needs. */
    void end() {
        unfinished = false;
        if (buffer.getSharedBuffer().length > MAX_RETAINED_BYTES) {
            buffer = new DataOutputSerializer(INITIAL_BYTES);
        }
    }
}
