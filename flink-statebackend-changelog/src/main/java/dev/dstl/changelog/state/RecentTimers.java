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

package dev.dstl.changelog.state;

import dev.dstl.log.api.RecordKind;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import javax.annotation.Nullable;

/**
 * Recognizes a record of a timer queue that repeats an earlier one, and without which the changelog
 * replays to the same timers.
 *
 * <p>Contains records of the latest <em>series</em> only: records of one kind, in one generation of
 * the changelog, without one of the other kind between them. Timers are a set, so in a series of
 * additions a second addition of a timer changes nothing, and the same holds for removals. This
 * depends neither on the timers of the delegate nor on how they are compared, and a base never lies
 * between the two records.
 *
 * <p>A direct-mapped table, so that a lookup costs a hash and a comparison. It takes 36 KiB of heap
 * from the first record on that is not longer than 63 bytes; longer ones are not recognized. Used
 * by the thread that changes the queue.
 */
final class RecentTimers {

    /**
     * Enough for the windows that a few dozen keys have at the same time. Most repetitions follow
     * at once: Flink's window operator registers a timer for the trigger and again to clean up.
     */
    private static final int SLOTS = 512;

    /** The length of a record, and its bytes. */
    private static final int SLOT_BYTES = 64;

    private static final int MAX_LENGTH = SLOT_BYTES - 1;
    private static final int NO_SLOT = -1;
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    private static final VarHandle LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final int slots;
    private final int shift;

    @Nullable private byte[] records;

    /** The series of the record in each slot; 64 bits, since a number must not come back. */
    @Nullable private long[] seriesOfSlots;

    /** Larger than that of any slot from before. */
    private long series = 1;

    private RecordKind kind = RecordKind.PUT;
    private long generation;

    RecentTimers() {
        this(SLOTS);
    }

    /**
     * Creates an empty table.
     *
     * @param slots a power of two, at least 2
     */
    RecentTimers(int slots) {
        this.slots = slots;
        this.shift = Long.SIZE - Integer.numberOfTrailingZeros(slots);
    }

    /** Returns the slot of a record, for the other methods. */
    int slotOf(byte[] record, int length) {
        if (length > MAX_LENGTH) {
            return NO_SLOT;
        }
        long hash = length;
        int i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            hash = Long.rotateLeft((hash ^ (long) LONG.get(record, i)) * MULTIPLIER, 29);
        }
        for (; i < length; i++) {
            hash = Long.rotateLeft((hash ^ record[i]) * MULTIPLIER, 29);
        }
        return (int) ((hash * MULTIPLIER) >>> shift);
    }

    /** Returns whether a record repeats one of the series that it would continue. */
    boolean contains(int slot, RecordKind ofKind, long ofGeneration, byte[] record, int length) {
        if (slot == NO_SLOT
                || records == null
                || ofKind != kind
                || ofGeneration != generation
                || seriesOfSlots[slot] != series) {
            return false;
        }
        int start = slot * SLOT_BYTES;
        return records[start] == length
                && Arrays.equals(records, start + 1, start + 1 + length, record, 0, length);
    }

    /** Notes a record that was appended. The table keeps a copy. */
    void appended(int slot, RecordKind ofKind, long ofGeneration, byte[] record, int length) {
        if (ofKind != kind || ofGeneration != generation) {
            forget();
            kind = ofKind;
            generation = ofGeneration;
        }
        if (slot == NO_SLOT) {
            return;
        }
        if (records == null) {
            records = new byte[slots * SLOT_BYTES];
            seriesOfSlots = new long[slots];
        }
        int start = slot * SLOT_BYTES;
        records[start] = (byte) length;
        System.arraycopy(record, 0, records, start + 1, length);
        seriesOfSlots[slot] = series;
    }

    /** Forgets all records. */
    void forget() {
        series++;
    }
}
