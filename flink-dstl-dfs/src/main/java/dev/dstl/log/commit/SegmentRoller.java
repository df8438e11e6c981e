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

import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentUploader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Rolls queued batches into segments. Called under the lock of {@link GroupCommit}; starts no
 * upload.
 */
final class SegmentRoller {

    private final SegmentListener listener;
    private final SegmentRegistry registry;
    private final SegmentUploader uploader;
    private final LocalCopies localCopies;
    private final RecentSegments recentSegments;
    private final InFlightBudget budget;

    /** Creates a roller. All arguments stay the caller's. */
    SegmentRoller(
            SegmentListener listener,
            SegmentRegistry registry,
            SegmentUploader uploader,
            LocalCopies localCopies,
            RecentSegments recentSegments,
            InFlightBudget budget) {
        this.listener = listener;
        this.registry = registry;
        this.uploader = uploader;
        this.localCopies = localCopies;
        this.recentSegments = recentSegments;
        this.budget = budget;
    }

    /**
     * Rolls one segment, or several if the changelogs' last checkpoints differ too much to share
     * one.
     */
    List<RolledSegment> roll(Collection<SealedBatch> queued) {
        List<RolledSegment> rolled = new ArrayList<>(1);
        for (List<SealedBatch> batches : SegmentSharing.partition(queued)) {
            RolledSegment segment =
                    new RolledSegment(
                            batches,
                            listener,
                            registry,
                            uploader,
                            localCopies,
                            recentSegments,
                            budget);
            batches.forEach(batch -> batch.rollInto(segment));
            rolled.add(segment);
        }
        return rolled;
    }
}
