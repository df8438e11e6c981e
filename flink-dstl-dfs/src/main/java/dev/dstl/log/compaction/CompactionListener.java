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
 * The changelog a compaction is for. Called on any thread, without any lock held; at most one of
 * the methods has an effect, since a changelog has one compaction at a time.
 *
 * @param <B> the runs of the changelog
 */
public interface CompactionListener<B extends CompactionInput> {

    /** The last checkpoint that the changelog was persisted for; 0 before the first. */
    long lastCheckpoint();

    /**
     * The inputs are durable as one.
     *
     * @param position of that one
     */
    void compacted(Compaction<B> ended, BatchPosition position);

    /**
     * The inputs stay as they are.
     *
     * @param cause null if they take too much memory
     */
    void compactionFailed(Compaction<B> failed, @Nullable Throwable cause);
}
