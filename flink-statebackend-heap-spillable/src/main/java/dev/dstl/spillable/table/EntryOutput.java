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

package dev.dstl.spillable.table;

import java.io.IOException;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Gathers entries before they go to the stream of a snapshot, for which each write of a serializer
 * would be a call through several layers. One thread.
 */
final class EntryOutput {

    private static final int FLUSH_BYTES = 32 * 1024;

    private final DataOutputSerializer buffer = new DataOutputSerializer(2 * FLUSH_BYTES);
    private final DataOutputView out;

    EntryOutput(DataOutputView out) {
        this.out = out;
    }

    /** What serializers write to. */
    DataOutputView view() {
        return buffer;
    }

    /** To be called after every entry, which is never kept in parts. */
    void endEntry() throws IOException {
        if (buffer.length() >= FLUSH_BYTES) {
            flush();
        }
    }

    void flush() throws IOException {
        out.write(buffer.getSharedBuffer(), 0, buffer.length());
        buffer.clear();
    }
}
