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

/**
 * Applies the records of one state id as bytes. Deserializes only the first record of a key group
 * and every {@value #RECORDS_PER_CHECK}th, to detect keys that hash differently from when they were
 * written, and serializers that cannot read what they wrote. Records that cannot be applied as
 * bytes are applied entry by entry. Belongs to the task thread.
 */
abstract class BulkApplier extends StateApplier {

    private static final int RECORDS_PER_CHECK = 256;
    private static final int NONE = -1;

    private final StateApplier entries;
    private final BulkTarget target;
    private int checkedKeyGroup = NONE;
    private int recordsToCheck;

    /**
     * Creates an applier.
     *
     * @param entries applies records entry by entry
     * @param target takes bytes in the schema version that {@code entries} reads
     */
    BulkApplier(StateApplier entries, BulkTarget target) {
        super(entries.registration());
        this.entries = entries;
        this.target = target;
    }

    @Override
    final void apply(LogRecord record) throws Exception {
        if (!takesBytes()) {
            applyAsEntry(record);
            return;
        }
        if (record.keyGroup() != checkedKeyGroup || --recordsToCheck == 0) {
            entries.check(record);
            checkedKeyGroup = record.keyGroup();
            recordsToCheck = RECORDS_PER_CHECK;
        }
        if (!write(record, target)) {
            applyAsEntry(record);
        }
    }

    private void applyAsEntry(LogRecord record) throws Exception {
        finish();
        changeAsEntry(record);
    }

    /**
     * Applies a record entry by entry, without flushing the target. Buffered changes must not
     * affect the record.
     */
    final void changeAsEntry(LogRecord record) throws Exception {
        entries.apply(record);
        entries.finish();
    }

    /** Returns whether the delegate's state still has the schema version of the records. */
    abstract boolean takesBytes();

    /**
     * Writes a record to the target.
     *
     * @return false if the record must be applied entry by entry
     */
    abstract boolean write(LogRecord record, BulkTarget to) throws Exception;

    @Override
    final void check(LogRecord record) throws Exception {
        entries.check(record);
    }

    @Override
    void finish() throws IOException {
        target.flush();
    }

    @Override
    final void apply(BuiltInChange change) throws Exception {
        finish();
        entries.apply(change);
    }

    @Override
    final void copyAll(RestoredStates<?> source) throws Exception {
        finish();
        entries.copyAll(source);
    }
}
