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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.TreeMap;

/**
 * The checkpoints for which some log of a storage waits for segments. Thread safe.
 *
 * <p>The JobManager deletes a segment when a checkpoint had it and a later completed one has not.
 * Logs share segments. So while one log waits for a segment on behalf of a checkpoint, no log may
 * let its part of that segment travel inside the handle of a later checkpoint, and name the segment
 * in the one after that.
 */
public final class WaitingCheckpoints {

    /** How many logs wait, by checkpoint. */
    @GuardedBy("this")
    private final TreeMap<Long, Integer> logs = new TreeMap<>();

    /** A log begins to wait. */
    public synchronized void begin(long checkpointId) {
        logs.merge(checkpointId, 1, Integer::sum);
    }

    /** A log does not wait any more, whatever came of it. */
    public synchronized void end(long checkpointId) {
        logs.computeIfPresent(checkpointId, (id, count) -> count == 1 ? null : count - 1);
    }

    /** Whether some log waits on behalf of an earlier checkpoint. */
    public synchronized boolean anyBefore(long checkpointId) {
        return !logs.isEmpty() && logs.firstKey() < checkpointId;
    }
}
