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

import dev.dstl.log.commit.BatchPosition;
import javax.annotation.Nullable;

/**
 * Receives the outcome of a compaction of one changelog. Called on any thread, without a lock held.
 * One of the two outcomes at most has an effect, since a changelog has one compaction at a time.
 *
 * @param <B> the runs of the changelog
 */
public interface CompactionListener<B extends CompactionInput> {

    /** Returns the last checkpoint for which the changelog was persisted; 0 before the first. */
    long lastCheckpoint();

    /**
     * Reports that the compacted run is durable. If that throws, {@link #compactionFailed} follows.
     *
     * @param position of the compacted run
     */
    void compacted(Compaction<B> ended, BatchPosition position);

    /**
     * Reports that the inputs remain as they are.
     *
     * @param cause null if the records need too much memory
     */
    void compactionFailed(Compaction<B> failed, @Nullable Throwable cause);
}
