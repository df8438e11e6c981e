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

/** Applies the records of states with one value per key and namespace as bytes. */
class BulkStateApplier extends BulkApplier {

    private final RestoredState<?, ?, ?, ?> restored;
    private final int version;

    /**
     * Creates an applier.
     *
     * @param entries applies records entry by entry
     * @param restored state of {@code target}
     */
    BulkStateApplier(StateApplier entries, RestoredState<?, ?, ?, ?> restored, BulkTarget target) {
        super(entries, target);
        this.restored = restored;
        this.version = restored.version();
    }

    @Override
    final boolean takesBytes() {
        return restored.version() == version;
    }

    @Override
    boolean write(LogRecord record, BulkTarget to) throws Exception {
        if (record.keyPrefixLength() != record.keyLength()) {
            return false;
        }
        switch (record.kind()) {
            case PUT:
                to.put(record);
                return true;
            case DELETE:
                to.delete(record);
                return true;
            default:
                return false;
        }
    }
}
