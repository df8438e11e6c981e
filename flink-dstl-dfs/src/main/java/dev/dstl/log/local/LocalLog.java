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
 * The events of one log that concern the local copies of its segments. Thread safe; no method
 * blocks.
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
     * Begins a log.
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

    /** Whether checkpoints shall have a local part. */
    public boolean isEnabled() {
        return copies.isEnabled();
    }

    /** A checkpoint is about to contain batches of this log. */
    public synchronized void persisting(long checkpointId) {
        lastCheckpoint = Math.max(lastCheckpoint, checkpointId);
    }

    /** A batch that was in a checkpoint leaves the tail of the log. */
    public synchronized void release(@Nullable LocalCopy copy) {
        if (copy == null) {
            return;
        }
        if (closing) {
            copies.logs().left(task, copy, lastCheckpoint);
        } else {
            copies.logs().truncated(copy, lastCheckpoint);
        }
    }

    /** The log was truncated, so what the task was restored from is in no later checkpoint. */
    public synchronized void truncated() {
        if (isEnabled()) {
            copies.logs().independent(task, lastCheckpoint);
        }
    }

    /** A checkpoint of the job is complete. */
    public void confirmed(long checkpointId) {
        if (isEnabled()) {
            copies.logs().confirmed(checkpointId);
        }
    }

    /** From now on batches leave the tail because the log ends. */
    public synchronized void closing() {
        closing = true;
    }

    /** All batches have left the tail. */
    public void closed() {
        if (isEnabled()) {
            copies.logs().closed(task);
        }
    }
}
