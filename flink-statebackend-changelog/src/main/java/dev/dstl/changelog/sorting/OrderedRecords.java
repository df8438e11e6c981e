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
import java.util.concurrent.atomic.AtomicBoolean;
import javax.annotation.Nullable;

/**
 * Records in the order in which they are applied. Created by a sorting thread, then read by the
 * task thread.
 */
final class OrderedRecords {

    private final RecordBuffer records;

    /** Their numbers; null if they are all applied as they came. */
    @Nullable private final int[] order;

    private final int count;
    private final SortRun run;
    private final AtomicBoolean released = new AtomicBoolean();
    private int next;

    private OrderedRecords(RecordBuffer records, @Nullable int[] order, SortRun run) {
        this.records = records;
        this.order = order;
        this.count = order == null ? records.count() : order.length;
        this.run = run;
    }

    /** All of them, as they came. */
    static OrderedRecords asTheyCame(RecordBuffer records, SortRun run) {
        return new OrderedRecords(records, null, run);
    }

    /** In the delegate's order, without those that newer ones make superfluous. */
    static OrderedRecords sorted(RecordBuffer records, SortRun run) {
        return new OrderedRecords(
                records, SortedSurvivors.of(records, RecordSorter.sort(records)), run);
    }

    /** Points {@code record} at the next one; false if there is none. */
    boolean next(LogRecord record) {
        if (next == count) {
            return false;
        }
        records.read(order == null ? next : order[next], record);
        next++;
        return true;
    }

    /** The memory is not needed any more. Thread safe, may be called again. */
    void release() {
        if (released.compareAndSet(false, true)) {
            run.release();
        }
    }
}
