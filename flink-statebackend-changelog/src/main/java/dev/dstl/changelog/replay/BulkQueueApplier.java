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
import java.io.IOException;

/** Applies the records of a timer queue as bytes: an element is a key without a value. */
final class BulkQueueApplier extends BulkApplier {

    private static final byte[] NO_VALUE = new byte[0];

    private final RestoredQueue<?> restored;
    private final int version;
    private boolean loads;

    /**
     * Creates an applier.
     *
     * @param entries applies records entry by entry
     * @param restored queue of {@code target}
     */
    BulkQueueApplier(StateApplier entries, RestoredQueue<?> restored, BulkTarget target) {
        super(entries, target);
        this.restored = restored;
        this.version = restored.version();
    }

    @Override
    boolean takesBytes() {
        return restored.version() == version;
    }

    @Override
    boolean write(LogRecord record, BulkTarget to) throws Exception {
        if (!loads) {
            restored.giveWay();
            loads = true;
        }
        switch (record.kind()) {
            case PUT:
                to.put(record, NO_VALUE, 0, 0);
                return true;
            case DELETE:
                to.delete(record);
                return true;
            default:
                return false;
        }
    }

    @Override
    void finish() throws IOException {
        super.finish();
        loads = false;
    }
}
