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

package dev.dstl.log.batch;

import dev.dstl.log.record.RecordFormat;
import dev.dstl.log.record.RecordKind;

/**
 * A view of one record of a batch. Reused from record to record, so that looking through a batch
 * allocates nothing. Not thread safe.
 *
 * <pre>
 *   +---------------+---------------+---------------------------------+
 *   | key group + 1 | record length | record, see {@link RecordFormat} |
 *   | varint        | varint        | record length                   |
 *   +---------------+---------------+---------------------------------+
 * </pre>
 */
public final class PagedRecord {

    static final int MAX_PREAMBLE_BYTES = 2 * 5 + RecordFormat.MAX_HEADER_LENGTH;

    private PagedBytes bytes;
    private long at;

    private int keyGroup;
    private long position;
    private int length;
    private RecordKind kind;
    private int stateId;
    private int prefixLength;
    private int identityLength;
    private long identityPosition;

    /** Points this view at the record that begins at {@code start} and reads its header. */
    public void readAt(PagedBytes source, long start) {
        bytes = source;
        at = start;
        keyGroup = nextVarint() - 1;
        length = nextVarint();
        position = at;
        kind = RecordKind.of(bytes.byteAt(at++));
        stateId = nextVarint();
        prefixLength = nextVarint();
        identityLength = nextVarint();
        identityPosition = at;
    }

    private int nextVarint() {
        int value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = bytes.byteAt(at++);
            value |= (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    /** The key group, -1 for records of no key group. */
    public int keyGroup() {
        return keyGroup;
    }

    /** Where the record proper begins. */
    public long position() {
        return position;
    }

    /** Bytes of the record proper. */
    public int length() {
        return length;
    }

    /** Where the next record begins, or the batch ends. */
    public long end() {
        return position + length;
    }

    /** What the record does. */
    public RecordKind kind() {
        return kind;
    }

    /** The state, numbered by the writer. */
    public int stateId() {
        return stateId;
    }

    /** How many bytes of the identity are key and namespace. */
    public int prefixLength() {
        return prefixLength;
    }

    /** Bytes of the identity. */
    public int identityLength() {
        return identityLength;
    }

    /** Where the identity begins. */
    public long identityPosition() {
        return identityPosition;
    }
}
