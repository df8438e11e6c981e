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

package dev.dstl.log.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.metrics.DstlMetrics;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.annotation.Nullable;

/**
 * A cache of the segments that a job wrote recently on this TaskManager, in the form in which they
 * were uploaded. Compaction reads them here instead of from the store, where each changelog would
 * need a request per segment. A miss only costs that request.
 *
 * <p>Counts as cache memory, so all other uses have precedence. If there is no room for a new
 * segment, the oldest are evicted, since compaction mostly reads the newest runs. Thread-safe; no
 * method blocks.
 */
public final class RecentSegments {

    /**
     * Number of runs that a compaction usually reads. Of larger segments so few would fit that
     * compaction had to read from the store anyway.
     */
    private static final int LEAST_SEGMENTS = 16;

    private final long limitBytes;
    private final ProcessMemory memory;
    private final DstlMetrics metrics;

    /** Oldest first. */
    @GuardedBy("this")
    private final Set<RecentSegment> kept = new LinkedHashSet<>();

    @GuardedBy("this")
    private long keptBytes;

    @GuardedBy("this")
    private boolean closed;

    /**
     * Creates an empty cache.
     *
     * @param limitBytes maximum total size, at least 0; 0 disables the cache
     * @param memory of the process, which may refuse further bytes
     */
    public RecentSegments(long limitBytes, ProcessMemory memory, DstlMetrics metrics) {
        this.limitBytes = limitBytes;
        this.memory = memory;
        this.metrics = metrics;
        metrics.measureRecentSegments(this::keptBytes);
    }

    /**
     * Creates an entry for a segment that is not written yet. Released by the caller.
     *
     * @return null if the cache is disabled
     */
    @Nullable
    public RecentSegment open() {
        return limitBytes > 0 ? new RecentSegment(this, metrics) : null;
    }

    synchronized void keep(RecentSegment segment, EncodedSegment content) {
        long bytes = content.heldBytes();
        if (closed || bytes > limitBytes / LEAST_SEGMENTS || !segment.isWanted()) {
            return;
        }
        while (keptBytes + bytes > limitBytes || !memory.tryKeep(bytes)) {
            if (!dropOldest()) {
                return;
            }
        }
        boolean added = false;
        try {
            added = kept.add(segment);
        } finally {
            if (!added) {
                // An addition that fails may have taken place.
                kept.remove(segment);
                memory.take(bytes);
            }
        }
        keptBytes += bytes;
        segment.fill(content);
    }

    @GuardedBy("this")
    private boolean dropOldest() {
        Iterator<RecentSegment> oldestFirst = kept.iterator();
        if (!oldestFirst.hasNext()) {
            return false;
        }
        drop(oldestFirst.next());
        return true;
    }

    /** Drops a segment; no effect if it is not in memory. */
    synchronized void drop(RecentSegment segment) {
        if (kept.remove(segment)) {
            long bytes = segment.clear();
            keptBytes -= bytes;
            memory.take(bytes);
        }
    }

    /** Drops all segments because the memory is needed elsewhere. */
    public synchronized void drop() {
        boolean dropped;
        do {
            dropped = dropOldest();
        } while (dropped);
    }

    /** Drops all segments and rejects further ones. */
    public synchronized void close() {
        closed = true;
        drop();
    }

    /** Returns the total size of the segments in bytes. */
    public synchronized long keptBytes() {
        return keptBytes;
    }
}
