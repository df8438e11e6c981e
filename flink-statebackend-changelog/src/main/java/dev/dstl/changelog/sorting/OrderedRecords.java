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

    /** Record numbers; null if the records keep their order. */
    @Nullable private final int[] order;

    private final int count;
    private final SortRun run;
    private final long bytes;
    private final AtomicBoolean released = new AtomicBoolean();
    private int next;

    private OrderedRecords(RecordBuffer records, @Nullable int[] order, SortRun run) {
        this.bytes = records.memoryBytes();
        this.records = records;
        this.order = order;
        this.count = order == null ? records.count() : order.length;
        this.run = run;
    }

    /** Returns all records in their original order. */
    static OrderedRecords asTheyCame(RecordBuffer records, SortRun run) {
        return new OrderedRecords(records, null, run);
    }

    /** Returns the records in the order that the delegate takes, without obsolete ones. */
    static OrderedRecords of(RecordBuffer records, ReplayOrder order, SortRun run) {
        int[] numbers =
                order == ReplayOrder.BY_KEY
                        ? SortedSurvivors.of(records, RecordSorter.sort(records))
                        : SortedSurvivors.numbersIn(records);
        return new OrderedRecords(records, numbers, run);
    }

    /** Points {@code record} at the next one; false at the end. */
    boolean next(LogRecord record) {
        if (next == count) {
            return false;
        }
        records.read(order == null ? next : order[next], record);
        next++;
        return true;
    }

    /** Releases the memory. Thread-safe; no effect the second time. */
    void release() {
        if (released.compareAndSet(false, true)) {
            run.release(bytes);
        }
    }
}
