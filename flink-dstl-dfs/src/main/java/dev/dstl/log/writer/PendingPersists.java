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

package dev.dstl.log.writer;

import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/** The checkpoints that wait for batches. Guarded by the {@link LogTail} it belongs to. */
final class PendingPersists {

    private final List<PendingPersist> persists = new ArrayList<>();

    void add(PendingPersist persist) {
        persists.add(persist);
    }

    /** Returns whether a persist waits for the segment of a batch. */
    boolean needSegmentOf(TailBatch batch) {
        for (PendingPersist persist : persists) {
            if (persist.waitsFor(batch, false)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Reports that a batch is about to get a position.
     *
     * @param encoded true for its encoding, false for its segment
     */
    void arrived(TailBatch batch, boolean encoded) {
        // Without an iterator, which takes memory: an error would be final, nothing repeats this.
        for (int i = 0; i < persists.size(); i++) {
            if (persists.get(i).waitsFor(batch, encoded)) {
                persists.get(i).batchArrived();
            }
        }
    }

    /** Removes the persists that wait for a batch and adds them to {@code taken}. */
    void takeWaiting(TailBatch batch, boolean encoded, List<PendingPersist> taken) {
        persists.removeIf(persist -> persist.waitsFor(batch, encoded) && taken.add(persist));
    }

    /**
     * Removes a persist.
     *
     * @return false if it had already ended
     */
    boolean take(PendingPersist persist) {
        return persists.remove(persist);
    }

    /** Removes one of the persists that wait for nothing any more; null if there is none. */
    @Nullable
    PendingPersist takeComplete() {
        for (int i = 0; i < persists.size(); i++) {
            if (persists.get(i).isComplete()) {
                return persists.remove(i);
            }
        }
        return null;
    }

    List<PendingPersist> takeAll() {
        List<PendingPersist> all = new ArrayList<>(persists);
        persists.clear();
        return all;
    }
}
