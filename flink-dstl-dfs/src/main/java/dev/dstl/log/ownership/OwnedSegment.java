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

package dev.dstl.log.ownership;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/**
 * The owner of one segment and its references. Changed only by {@link SegmentRegistry};
 * thread-safe.
 */
public final class OwnedSegment {

    @GuardedBy("this")
    private SegmentOwnership ownership = SegmentOwnership.UPLOADING;

    @GuardedBy("this")
    private int references;

    /** Number of handles with the segment that were given to checkpoints and not dropped. */
    @GuardedBy("this")
    private long deliveries;

    @GuardedBy("this")
    @Nullable
    private Path file;

    OwnedSegment(int references) {
        this.references = references;
    }

    /** Returns who must delete the segment. */
    public synchronized SegmentOwnership ownership() {
        return ownership;
    }

    synchronized SegmentOwnership durableAs(Path file) {
        this.file = file;
        ownership =
                ownership.to(
                        references == 0 ? SegmentOwnership.NOBODY : SegmentOwnership.TASK_MANAGER);
        return ownership;
    }

    /** Counts a delivery; returns whether this changed the owner. */
    synchronized boolean handOver() {
        if (references == 0) {
            throw new IllegalStateException(
                    "A segment without references cannot be handed over: " + file);
        }
        if (ownership != SegmentOwnership.JOB_MANAGER) {
            ownership = ownership.to(SegmentOwnership.JOB_MANAGER);
        }
        return ++deliveries == 1;
    }

    /** Counts a dropped delivery; returns whether this changed the owner. */
    synchronized boolean reclaim() {
        if (deliveries == 0) {
            throw new IllegalStateException("A segment was reclaimed too often: " + file);
        }
        if (--deliveries > 0) {
            return false;
        }
        ownership = ownership.to(SegmentOwnership.TASK_MANAGER);
        return true;
    }

    synchronized boolean isReferenced() {
        return references > 0;
    }

    /** Drops a reference; returns whether it was the last one. */
    synchronized boolean release() {
        if (references == 0) {
            throw new IllegalStateException("A segment was released too often: " + file);
        }
        return --references == 0;
    }

    /**
     * Returns the file that the TaskManager must delete now; null if the segment is not durable,
     * belongs to the JobManager, or was returned before.
     */
    @Nullable
    synchronized Path disown() {
        if (ownership != SegmentOwnership.TASK_MANAGER) {
            return null;
        }
        ownership = ownership.to(SegmentOwnership.NOBODY);
        return file;
    }
}
