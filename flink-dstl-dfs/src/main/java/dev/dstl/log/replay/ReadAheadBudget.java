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
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory for frames that the compactions of a job have fetched ahead, within the memory
 * of the process. Thread-safe.
 */
public final class ReadAheadBudget implements ReplayMemory {

    private final long limitBytes;
    private final AtomicLong reservedBytes = new AtomicLong();

    /**
     * Creates a budget.
     *
     * @param limitBytes maximum total size, at least 0
     */
    public ReadAheadBudget(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public boolean tryReserve(long bytes) {
        if (reservedBytes.addAndGet(bytes) <= limitBytes
                && ProcessMemory.shared().tryReserveReadAhead(bytes)) {
            return true;
        }
        reservedBytes.addAndGet(-bytes);
        return false;
    }

    @Override
    public void release(long bytes) {
        reservedBytes.addAndGet(-bytes);
        ProcessMemory.shared().releaseReadAhead(bytes);
    }

    /** Returns the reserved bytes. */
    public long reservedBytes() {
        return reservedBytes.get();
    }
}
