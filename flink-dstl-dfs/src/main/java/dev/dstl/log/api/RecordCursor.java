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

package dev.dstl.log.api;

import java.io.Closeable;
import java.io.IOException;

/**
 * Reads records forward. Records of a key group come in the order in which they were written;
 * records without a key group (META) come before the first record that needs them. Not thread-safe.
 * Closed by the caller that opened it.
 */
public interface RecordCursor extends Closeable {

    /**
     * Points {@code record} at the next record.
     *
     * @param record valid until the next call or until the cursor is closed
     * @return false at the end
     * @throws IOException if a segment cannot be read or is corrupt
     */
    boolean next(LogRecord record) throws IOException;
}
