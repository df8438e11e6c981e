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

package dev.dstl.log.compaction;

import dev.dstl.log.commit.SealedBatch;
import javax.annotation.Nullable;

/** A compacted run that waits for others to share a segment. Called without a lock held. */
interface CompactionOutput {

    /**
     * Hands the run over to be submitted.
     *
     * @param bytes size of the records of all outputs that share the segment
     * @return null if the run is no longer needed
     */
    @Nullable
    SealedBatch startSubmitting(long bytes);

    /**
     * Reports whether the group commit accepted the run.
     *
     * @param refusal null if it was accepted
     */
    void submitted(@Nullable Throwable refusal);
}
