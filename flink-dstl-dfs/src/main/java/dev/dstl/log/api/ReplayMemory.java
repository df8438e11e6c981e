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

package dev.dstl.log.api;

/**
 * Memory for records that are read and not yet replayed, shared by the restoring tasks of a
 * process. Thread-safe.
 */
public interface ReplayMemory {

    /** Refuses every reservation. */
    ReplayMemory NONE =
            new ReplayMemory() {
                @Override
                public boolean tryReserve(long bytes) {
                    return false;
                }

                @Override
                public void release(long bytes) {
                    throw new IllegalStateException("Nothing was reserved");
                }
            };

    /**
     * Reserves memory without blocking.
     *
     * @param bytes at least 0
     * @return whether the memory was reserved; if so, it must be released
     */
    boolean tryReserve(long bytes);

    /**
     * Releases reserved memory.
     *
     * @param bytes at most as many as are reserved
     */
    void release(long bytes);
}
