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

import java.io.IOException;
import java.util.List;

/**
 * Receives the events of a segment's upload. Called on upload threads, without a lock held; must
 * not block.
 */
interface SegmentListener {

    /** The segment is durable. Called before {@link #durable} is called for its batches. */
    void segmentDurable(RolledSegment segment);

    /** A batch of a durable segment is durable. */
    void durable(SealedBatch batch, BatchPosition position);

    /**
     * The upload of the batches is suspended until a checkpoint needs one of them.
     *
     * @param cause the last failure
     */
    void suspended(List<SealedBatch> batches, IOException cause);
}
