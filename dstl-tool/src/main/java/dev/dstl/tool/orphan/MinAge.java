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

package dev.dstl.tool.orphan;

import java.time.Duration;

/** How old a file must be so that no checkpoint to come can need it. Immutable. */
final class MinAge {

    /**
     * Least age of a file at the newest checkpoint of its job. A file written after the barrier of
     * that checkpoint, but before its completion, belongs to the next one; checkpoints may take
     * long, whatever {@code --min-age} says about writers.
     */
    private static final long AT_CHECKPOINT_MILLIS = Duration.ofHours(1).toMillis();

    private final long millis;
    private final long nowEpochMillis;

    MinAge(long millis, long nowEpochMillis) {
        this.millis = millis;
        this.nowEpochMillis = nowEpochMillis;
    }

    /** Returns whether something happened so recently that its process may be alive. */
    boolean isRecent(long epochMillis) {
        return nowEpochMillis - epochMillis < millis;
    }

    /**
     * Returns when a file was written, in milliseconds since the epoch: now, if its file system
     * does not know it, since it may have just been written.
     *
     * @param modifiedEpochMillis by the file system; 0 or less if it is not known
     */
    long writtenEpochMillis(long modifiedEpochMillis) {
        return modifiedEpochMillis > 0 ? modifiedEpochMillis : nowEpochMillis;
    }

    /**
     * Returns whether a file that a checkpoint does not contain may belong to the one after it.
     *
     * @param modifiedEpochMillis by the file system; 0 or less if it is not known
     */
    boolean mayBelongToNext(long checkpointEpochMillis, long modifiedEpochMillis) {
        return writtenEpochMillis(modifiedEpochMillis)
                > checkpointEpochMillis - Math.max(millis, AT_CHECKPOINT_MILLIS);
    }
}
