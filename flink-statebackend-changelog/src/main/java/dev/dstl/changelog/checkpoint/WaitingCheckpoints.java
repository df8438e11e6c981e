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

package dev.dstl.changelog.checkpoint;

import java.util.HashMap;
import java.util.Map;

/**
 * The checkpoints whose asynchronous part has not ended. Flink runs these parts on a single thread
 * per task, and cancels that of an aborted checkpoint on the same thread. A checkpoint that waits
 * there would never learn that it was aborted and let all later ones wait, so it is told here. Used
 * by the task thread.
 */
final class WaitingCheckpoints {

    private final Map<Long, CheckpointFuture> checkpoints = new HashMap<>();

    /** Adds a checkpoint and forgets those that have ended. */
    void add(long checkpointId, CheckpointFuture checkpoint) {
        checkpoints.values().removeIf(CheckpointFuture::isDone);
        checkpoints.put(checkpointId, checkpoint);
    }

    /** Ends the wait of an aborted checkpoint. No effect if it has ended. */
    void abort(long checkpointId) {
        CheckpointFuture aborted = checkpoints.remove(checkpointId);
        if (aborted != null) {
            aborted.abort();
        }
    }
}
