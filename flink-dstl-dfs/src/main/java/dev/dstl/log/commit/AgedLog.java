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

/** A changelog whose active batch is sealed when it reaches an age or when memory is short. */
public interface AgedLog {

    /**
     * Called periodically on a thread of the changelog storage. Asks the task to seal its active
     * batch if it is the same batch as at the last call. Must not block.
     */
    void grownOlder();

    /**
     * Asks the task to seal its active batch, if it has records, because memory is short. Called on
     * a thread of the changelog storage; must not block.
     */
    void memoryShort();

    /** Reports that the storage was closed: batches that are not durable never will be. */
    void storageClosed();
}
