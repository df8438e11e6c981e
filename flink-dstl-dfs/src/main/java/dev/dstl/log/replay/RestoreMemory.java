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

package dev.dstl.log.replay;

import dev.dstl.log.api.ReplayMemory;
import dev.dstl.log.memory.ProcessMemory;
import java.util.function.BooleanSupplier;

/**
 * Memory for records that the restores of this process have read and not yet replayed. Beyond an
 * amount that is always granted, there is more while the heap has room: a restore with more memory
 * sorts more at once, and replays less after the base is loaded. Thread-safe.
 */
public final class RestoreMemory implements ReplayMemory {

    private final ProcessMemory process;
    private final long limitBytes;
    private final long limitWithRoomBytes;
    private final BooleanSupplier heapHasRoom;

    /**
     * Creates the memory of a job's restores. All jobs of the process share what their limits
     * allow.
     *
     * @param limitBytes granted in any case, at least 0
     * @param limitWithRoomBytes granted while the heap is less than half full
     */
    public RestoreMemory(long limitBytes, long limitWithRoomBytes) {
        this(ProcessMemory.shared(), limitBytes, limitWithRoomBytes, HeapOccupancy::isLessThanHalf);
    }

    RestoreMemory(
            ProcessMemory process,
            long limitBytes,
            long limitWithRoomBytes,
            BooleanSupplier heapHasRoom) {
        this.process = process;
        this.limitBytes = limitBytes;
        this.limitWithRoomBytes = limitWithRoomBytes;
        this.heapHasRoom = heapHasRoom;
    }

    @Override
    public boolean tryReserve(long bytes) {
        return process.tryReserveForRestore(bytes, limitBytes)
                || (limitWithRoomBytes > limitBytes
                        && heapHasRoom.getAsBoolean()
                        && process.tryReserveForRestore(bytes, limitWithRoomBytes));
    }

    @Override
    public void release(long bytes) {
        process.releaseOfRestore(bytes);
    }
}
