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
import java.util.List;
import java.util.function.Function;

/**
 * Rolls queued batches into segments. Called under the lock of {@link GroupCommit}; starts no
 * upload.
 */
final class SegmentRoller {

    private final Function<List<SealedBatch>, RolledSegment> segments;

    /**
     * Creates a roller.
     *
     * @param segments creates the segment of batches, which does not change them
     */
    SegmentRoller(Function<List<SealedBatch>, RolledSegment> segments) {
        this.segments = segments;
    }

    /**
     * Rolls one segment, or several if the changelogs' last checkpoints differ too much to share
     * one. Rolls all batches, or none if it fails.
     */
    List<RolledSegment> roll(Collection<SealedBatch> queued) {
        List<RolledSegment> rolled = new ArrayList<>(1);
        for (List<SealedBatch> batches : SegmentSharing.partition(queued)) {
            rolled.add(segments.apply(batches));
        }
        for (RolledSegment segment : rolled) {
            segment.batches().forEach(batch -> batch.rollInto(segment));
        }
        return rolled;
    }
}
