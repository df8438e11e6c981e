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
 * One state of a delegate, or one queue. Records are not retained. The last write of a key wins.
 * Belongs to the task thread.
 */
public interface BulkTarget {

    /** Writes the payload. */
    default void put(LogRecord record) throws IOException {
        put(record, record.buffer(), record.payloadOffset(), record.payloadLength());
    }

    /** Writes {@code length} bytes of {@code value} from {@code offset} on. */
    void put(LogRecord record, byte[] value, int offset, int length) throws IOException;

    /** Adds {@code length} bytes of {@code value} to the list that is there. */
    void append(LogRecord record, byte[] value, int offset, int length) throws IOException;

    /** Removes what is there, if anything is. */
    void delete(LogRecord record) throws IOException;

    /** Until this returns the delegate may lack what was written to any target. */
    void flush() throws IOException;
}
