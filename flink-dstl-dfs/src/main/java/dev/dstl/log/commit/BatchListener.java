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
 * Waits for a batch. Called on threads of the log, without any lock held; may not block. An
 * exception is logged and affects no other batch.
 */
public interface BatchListener {

    /**
     * The records are no longer in memory, but encoded in a segment.
     *
     * @param frameBytes their size there
     */
    default void encoded(long frameBytes) {}

    /** The batch is durable. Called at most once; may cross with a release. */
    void durable(BatchPosition position);

    /** The batch is not durable yet, and its upload is suspended until a checkpoint needs it. */
    void suspended(IOException cause);
}
