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

package dev.dstl.changelog.materialization;

import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;

/**
 * The bytes that the latest checkpoints of a subtask added to its changelog. Not thread-safe.
 *
 * <p>The size a checkpoint reports as new includes runs written by compaction. The appended bytes
 * lie between the growth of the changelog and that size; within these bounds, they are assumed to
 * equal those of the checkpoint before, and not the largest: that would be remembered for as long
 * as compactions end now and then.
 */
final class CheckpointSizes {

    /** Number of checkpoints for which a burst counts. */
    private static final int REMEMBERED = 4;

    private final long[] appended = new long[REMEMBERED];
    private int next;
    private long lastBase = Long.MIN_VALUE;
    private long lastLogBytes;

    /**
     * Adds a checkpoint.
     *
     * @param logBytes total size of its changelog
     */
    void add(ChangelogStateBackendHandle checkpoint, long logBytes) {
        long most = Math.min(logBytes, checkpoint.getCheckpointedSize());
        boolean truncated = checkpoint.getMaterializationID() != lastBase;
        long least = truncated ? most : Math.max(0, logBytes - lastLogBytes);
        appended[next] = Math.min(most, Math.max(least, latest()));
        next = (next + 1) % REMEMBERED;
        lastBase = checkpoint.getMaterializationID();
        lastLogBytes = logBytes;
    }

    private long latest() {
        return appended[(next + REMEMBERED - 1) % REMEMBERED];
    }

    /**
     * Returns the size in bytes that the largest of the latest checkpoints appended, not negative.
     */
    long largest() {
        long largest = 0;
        for (long bytes : appended) {
            largest = Math.max(largest, bytes);
        }
        return largest;
    }
}
