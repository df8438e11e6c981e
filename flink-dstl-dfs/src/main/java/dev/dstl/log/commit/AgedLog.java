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

package dev.dstl.log.commit;

/** A log whose batches are sealed at the latest at an age. */
public interface AgedLog {

    /**
     * Called from time to time, on a thread of the log. Asks the task to seal its active batch if
     * that is the same as at the last call; may not block.
     */
    void grownOlder();

    /**
     * Memory is short. Called on a thread of the log; asks the task to seal its active batch, if
     * there is anything in it. May not block.
     */
    void memoryShort();

    /** The storage was closed; nothing that is not durable will ever be. */
    void storageClosed();
}
