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

    /** Returns the buffer after emptying it. */
    DataOutputSerializer empty() {
        trim();
        buffer.clear();
        return buffer;
    }

    /** Returns the buffer with the record as far as it is built. */
    DataOutputSerializer record() {
        return buffer;
    }

    /** Releases memory that only a huge value needs. The record is lost then. */
    void trim() {
        if (buffer.getSharedBuffer().length > MAX_RETAINED_BYTES) {
            buffer = new DataOutputSerializer(INITIAL_BYTES);
        }
    }
}
