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
 * Who waits for a batch. Called on threads of the log, without any lock held; may not block. What
 * it throws is reported and disturbs nobody else.
 */
public interface BatchListener {

    /**
     * The records are not in memory any more, but as a part of a segment.
     *
     * @param frameBytes what they take there
     */
    default void encoded(long frameBytes) {}

    /** The batch is durable. Called at most once; may cross with a release. */
    void durable(BatchPosition position);

    /** The batch is not durable yet, and its upload rests until it is asked for again. */
    void parked(IOException cause);
}
