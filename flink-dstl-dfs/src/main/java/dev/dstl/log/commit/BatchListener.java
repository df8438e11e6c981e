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

import java.io.IOException;

/**
 * Receives the events of a sealed batch. Called on threads of the changelog storage, without a lock
 * held; must not block. An exception is logged and affects no other batch.
 */
public interface BatchListener {

    /**
     * The records are no longer in memory; they are encoded in a segment.
     *
     * @param frameBytes size of the batch in the segment
     */
    default void encoded(long frameBytes) {}

    /**
     * The batch is durable. Called at most once, possibly concurrently with a release of the batch.
     */
    void durable(BatchPosition position);

    /**
     * The upload of the batch is suspended until a checkpoint needs it.
     *
     * @param cause the last failure
     */
    void suspended(IOException cause);
}
