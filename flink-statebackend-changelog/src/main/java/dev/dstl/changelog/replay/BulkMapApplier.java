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

package dev.dstl.changelog.replay;

import dev.dstl.changelog.delegate.BulkTarget;
import dev.dstl.log.api.LogRecord;
import java.util.Arrays;

/**
 * Applies the records of a map state as bytes. The delegate clears a map by iterating over its
 * entries, so earlier writes to that map must not be buffered. None are if records come in the
 * order of their keys.
 */
final class BulkMapApplier extends BulkStateApplier {

    private byte[] last = new byte[64];
    private int lastLength;
    private int lastKeyGroup = -1;

    BulkMapApplier(StateApplier entries, RestoredState<?, ?, ?, ?> restored, BulkTarget target) {
        super(entries, restored, target);
    }

    @Override
    boolean write(LogRecord record, BulkTarget to) throws Exception {
        switch (record.kind()) {
            case PUT:
                follow(record);
                to.put(record);
                return true;
            case DELETE:
                follow(record);
                to.delete(record);
                return true;
            case DELETE_PREFIX:
                follow(record);
                changeAsEntry(record);
                return true;
            default:
                return false;
        }
    }

    /** Flushes the target if buffered changes may have keys that are not smaller. */
    private void follow(LogRecord record) throws Exception {
        if (!followsLast(record)) {
            finish();
        }
        lastKeyGroup = record.keyGroup();
        lastLength = record.keyLength();
        if (last.length < lastLength) {
            last = new byte[2 * lastLength];
        }
        System.arraycopy(record.buffer(), record.keyOffset(), last, 0, lastLength);
    }

    private boolean followsLast(LogRecord record) {
        if (record.keyGroup() != lastKeyGroup) {
            return record.keyGroup() > lastKeyGroup;
        }
        return Arrays.compareUnsigned(
                        last,
                        0,
                        lastLength,
                        record.buffer(),
                        record.keyOffset(),
                        record.payloadOffset())
                < 0;
    }
}
