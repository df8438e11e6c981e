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

import dev.dstl.log.api.ReplayMemory;
import java.util.concurrent.atomic.AtomicLong;

/** Grants memory up to a limit, and counts reservations. */
final class FakeMemory implements ReplayMemory {

    private final long limitBytes;
    private final AtomicLong reserved = new AtomicLong();

    FakeMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public boolean tryReserve(long bytes) {
        if (reserved.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        reserved.addAndGet(-bytes);
        return false;
    }

    @Override
    public void release(long bytes) {
        if (reserved.addAndGet(-bytes) < 0) {
            throw new IllegalStateException("More was released than reserved");
        }
    }

    long reserved() {
        return reserved.get();
    }
}
