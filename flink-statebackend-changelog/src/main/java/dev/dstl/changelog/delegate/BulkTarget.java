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

package dev.dstl.changelog.delegate;

import dev.dstl.log.api.LogRecord;
import java.io.IOException;

/**
 * A state or a queue of a delegate during a bulk load. Records are not retained. The last write of
 * a key wins. Used by the task thread.
 */
public interface BulkTarget {

    /** Sets the value of the record key to the record's payload. */
    default void put(LogRecord record) throws IOException {
        put(record, record.buffer(), record.payloadOffset(), record.payloadLength());
    }

    /** Sets the value of the record key to {@code value[offset, offset + length)}. */
    void put(LogRecord record, byte[] value, int offset, int length) throws IOException;

    /** Appends {@code value[offset, offset + length)} to the list of the record key. */
    void append(LogRecord record, byte[] value, int offset, int length) throws IOException;

    /** Removes the record key; no effect if it does not exist. */
    void delete(LogRecord record) throws IOException;

    /** Writes buffered changes. Until this returns, the delegate may lack changes to any target. */
    void flush() throws IOException;
}
