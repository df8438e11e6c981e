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

package dev.dstl.changelog.sorting;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * A log of records of one length and distinct keys behind a registration. From some record on their
 * format is unknown, as in Flink's built-in changelog.
 */
final class DistinctRecords implements RecordCursor {

    private final AtomicLong readBytes = new AtomicLong();
    private final KeyGroupRange keyGroups;
    private final int count;
    private final int opaqueFrom;
    private final byte[] bytes;
    private int next;

    /**
     * @param opaqueFrom number of the first record of an unknown format; 0 for all, without a
     *     registration
     */
    DistinctRecords(KeyGroupRange keyGroups, int count, int recordBytes, int opaqueFrom) {
        this.keyGroups = keyGroups;
        this.count = count;
        this.opaqueFrom = opaqueFrom;
        this.bytes = new byte[recordBytes];
    }

    /** Bytes of the records read so far; by any thread. */
    long readBytes() {
        return readBytes.get();
    }

    @Override
    public boolean next(LogRecord record) {
        if (next == count) {
            return false;
        }
        RecordKind kind = kind();
        int keyLength = kind == RecordKind.PUT ? Integer.BYTES : 0;
        int header = RecordFormat.writeHeader(bytes, 0, kind, 0, keyLength, keyLength);
        ByteBuffer.wrap(bytes).putInt(header, next);
        int keyGroup = keyGroups.getStartKeyGroup() + next % keyGroups.getNumberOfKeyGroups();
        record.wrap(kind == RecordKind.META ? -1 : keyGroup, bytes, 0, bytes.length);
        next++;
        readBytes.addAndGet(bytes.length);
        return true;
    }

    private RecordKind kind() {
        if (next >= opaqueFrom) {
            return RecordKind.OPAQUE;
        }
        return next == 0 ? RecordKind.META : RecordKind.PUT;
    }

    @Override
    public void close() {}
}
