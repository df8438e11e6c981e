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

package dev.dstl.log.batch;

import java.util.concurrent.atomic.AtomicInteger;
import javax.annotation.Nullable;

/** Pages shared by several batches and returned when the last batch is released. Thread-safe. */
final class SharedPages {

    private final byte[][] pages;
    @Nullable private final PagePool pool;
    private final AtomicInteger owners = new AtomicInteger(1);

    /**
     * Creates pages with one owner.
     *
     * @param pool where the pages are returned; null leaves them to the garbage collector
     */
    SharedPages(byte[][] pages, @Nullable PagePool pool) {
        this.pages = pages;
        this.pool = pool;
    }

    /** Returns the pages. Must not be used after the caller's {@link #release}. */
    byte[][] pages() {
        return pages;
    }

    long heldBytes() {
        return pool == null ? pages[0].length : (long) pages.length * PagePool.PAGE_BYTES;
    }

    /** Adds an owner. Called by a current owner. */
    SharedPages retain() {
        owners.incrementAndGet();
        return this;
    }

    /** Removes an owner. Called once by each. */
    void release() {
        if (owners.decrementAndGet() == 0 && pool != null) {
            for (byte[] page : pages) {
                pool.give(page);
            }
        }
    }
}
