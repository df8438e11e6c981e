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
 * Memory that the restoring tasks of a process share for what they have read of their logs and not
 * yet replayed. Thread safe.
 */
public interface ReplayMemory {

    /** Grants nothing. */
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
     * Asks for memory.
     *
     * @param bytes at least 0
     * @return whether it was granted; then it is to be released
     */
    boolean tryReserve(long bytes);

    /**
     * Gives memory back.
     *
     * @param bytes not more than were granted
     */
    void release(long bytes);
}
