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

package dev.dstl.log.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Notifies the local copies of one changelog's segments of the checkpoints that contain them.
 * Thread-safe; no method blocks.
 */
public final class LocalLog {

    private static final long NO_CHECKPOINT = -1;

    private final LocalCopies copies;
    private final String task;

    @GuardedBy("this")
    private long lastCheckpoint = NO_CHECKPOINT;

    @GuardedBy("this")
    private boolean closing;

    /**
     * Registers a changelog.
     *
     * @param operatorId the same whenever the task is restarted
     */
    public LocalLog(LocalCopies copies, String operatorId, KeyGroupRange keyGroupRange) {
        this.copies = copies;
        this.task = operatorId + " " + keyGroupRange;
        if (isEnabled()) {
            copies.logs().opened(task);
        }
    }

    /** Returns whether checkpoints shall have a local part. */
    public boolean isEnabled() {
        return copies.isEnabled();
    }

    /** Reports that a checkpoint will contain batches of this changelog. */
    public synchronized void persisting(long checkpointId) {
        lastCheckpoint = Math.max(lastCheckpoint, checkpointId);
    }

    /**
     * Reports the checkpoint that the task was restored from: copies of which only later ones
     * consist, which never completed, are released.
     *
     * @param checkpointId 0 if the task began without state
     */
    public void restoredFrom(long checkpointId) {
        if (isEnabled()) {
            copies.logs().restoredFrom(task, checkpointId);
        }
    }

    /**
     * Reports that the task was restored from an unknown checkpoint, which is assumed to be the
     * latest one that is known to be complete. If it was another, its copies may be missed; they
     * are then read from the store.
     */
    public void restoredFromLatest() {
        if (isEnabled()) {
            copies.logs().restoredFromLatest(task);
        }
    }

    /**
     * Reports that a batch that was in a checkpoint leaves the tail of the changelog.
     *
     * @param firstCheckpoint the first checkpoint that may contain it
     * @param lastCheckpoint the last one
     */
    public synchronized void release(
            @Nullable LocalCopy copy, long firstCheckpoint, long lastCheckpoint) {
        if (copy == null) {
            return;
        }
        if (closing) {
            copies.logs().left(task, copy, firstCheckpoint);
        } else {
            copies.logs().truncated(task, copy, firstCheckpoint, lastCheckpoint);
        }
    }

    /**
     * Reports that the changelog was truncated. Later checkpoints contain nothing of what the task
     * was restored from.
     */
    public synchronized void truncated() {
        if (isEnabled()) {
            copies.logs().independent(task, lastCheckpoint);
        }
    }

    /** Reports that a checkpoint of the job is complete. */
    public void confirmed(long checkpointId) {
        if (isEnabled()) {
            copies.logs().confirmed(checkpointId);
        }
    }

    /**
     * Reports that the changelog is closing: batches that leave the tail from now on are left for
     * recovery.
     */
    public synchronized void closing() {
        closing = true;
    }

    /** Reports that all batches have left the tail. */
    public synchronized void closed() {
        if (isEnabled()) {
            copies.logs().closed(task, lastCheckpoint);
        }
    }
}
