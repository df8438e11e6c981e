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

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Decides which batches may share a segment, and which may travel inline although they are in one.
 *
 * <p>The JobManager deletes a segment as soon as a checkpoint completes, unless that checkpoint or
 * a later one has been acknowledged with the segment. So no checkpoint without the segment may
 * complete between the first checkpoint in which one changelog names it and the first in which
 * another does:
 *
 * <pre>
 *   checkpoint     6         7         8
 *   log A        names S   (materialized, needs S no more)
 *   log B        inline    inline    names S        but S went when 7 completed
 * </pre>
 *
 * <p>A batch is in all checkpoints of its changelog after those that <em>omitted</em> it: the last
 * one before it was sealed, or the last one whose handle had it inline. So a segment is first named
 * after the lowest of these, and never missed by a later checkpoint than the highest. It is safe if
 * the two differ by at most one.
 *
 * <p>The output of a compaction is omitted by all checkpoints before it takes the place of its
 * inputs, which each changelog decides for itself. If that is too far from the checkpoints at which
 * other changelogs did so, the output may not replace them; it is then treated as if it had never
 * been in the segment.
 */
final class SegmentSharing {

    private SegmentSharing() {}

    /** Groups batches by the segments that they may share, in sealing order within each group. */
    static List<List<SealedBatch>> partition(Collection<SealedBatch> batches) {
        List<SealedBatch> ascending = new ArrayList<>(batches);
        ascending.sort(Comparator.comparingLong(SealedBatch::omittedBy));
        List<List<SealedBatch>> segments = new ArrayList<>();
        long highest = 0;
        for (SealedBatch batch : ascending) {
            if (segments.isEmpty() || batch.omittedBy() > highest) {
                segments.add(new ArrayList<>());
                highest = batch.omittedBy() + 1;
            }
            segments.get(segments.size() - 1).add(batch);
        }
        return segments;
    }

    /**
     * Returns whether checkpoints may begin to name the output of a compaction.
     *
     * @param lastCheckpoint the last checkpoint of its changelog so far
     */
    static boolean allowsEntry(SealedBatch output, long lastCheckpoint) {
        for (SealedBatch other : output.segment().batches()) {
            if (other.hasEntered() && Math.abs(other.omittedBy() - lastCheckpoint) > 1) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether a checkpoint may omit the segments of batches of one changelog.
     *
     * @param omitted all batches that the checkpoint would have inline
     */
    static boolean allows(Collection<SealedBatch> omitted, long checkpointId) {
        // Task threads wait while this runs, and there are many batches while uploads hang.
        Set<SealedBatch> chosen = identitySet();
        chosen.addAll(omitted);
        Set<RolledSegment> checked = identitySet();
        for (SealedBatch batch : omitted) {
            if (batch.state() == BatchState.QUEUED) {
                continue;
            }
            if (batch.state() != BatchState.IN_SEGMENT || batch.segment().isDurable()) {
                return false;
            }
            if (checked.add(batch.segment())
                    && isNamedWithout(batch.segment(), chosen, checkpointId)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether an earlier checkpoint may name a segment because of other batches. */
    private static boolean isNamedWithout(
            RolledSegment segment, Set<SealedBatch> omitted, long checkpointId) {
        for (SealedBatch other : segment.batches()) {
            if (other.omittedBy() < checkpointId - 1
                    && other.state() != BatchState.RELEASED
                    && !omitted.contains(other)) {
                return true;
            }
        }
        return false;
    }

    private static <T> Set<T> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }
}
