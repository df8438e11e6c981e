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

package dev.dstl.spillable.incremental;

import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/**
 * The checkpoints of one backend whose shared files the next one may refer to. Used by any thread.
 *
 * <p>Flink keeps the files of the last completed checkpoint until a newer one completes, then only
 * those to which the newer one refers. A checkpoint therefore refers to a file only if the last
 * confirmed one and all that began since do so too: whichever of them completes first, the file
 * stays.
 */
public final class CheckpointHistory {

    /** A checkpoint that has begun. */
    final class Attempt {
        private final long id;
        private final CheckpointedPartitions base;
        private final List<Attempt> before;
        @Nullable private CheckpointedPartitions written;
        private boolean dropped;

        private Attempt(long id, CheckpointedPartitions base, List<Attempt> before) {
            this.id = id;
            this.base = base;
            this.before = before;
        }

        /** The checkpoint on which this one builds. */
        CheckpointedPartitions base() {
            return base;
        }

        /** Whether this checkpoint may refer to a file of {@link #base()}. */
        boolean mayReferTo(SharedFile file) {
            synchronized (CheckpointHistory.this) {
                for (Attempt one : before) {
                    boolean refers = one.written != null && one.written.refersTo(file);
                    if (!one.dropped && !refers) {
                        return false;
                    }
                }
                return true;
            }
        }

        /** All files of the checkpoint are written. */
        void written(CheckpointedPartitions partitions) {
            synchronized (CheckpointHistory.this) {
                written = partitions;
            }
        }

        /** The checkpoint will not complete. */
        void drop() {
            synchronized (CheckpointHistory.this) {
                dropped = true;
                unconfirmed.remove(this);
            }
        }
    }

    private final List<Attempt> unconfirmed = new ArrayList<>();
    private CheckpointedPartitions confirmed;

    /** Nothing was restored, or nothing whose files this backend may refer to. */
    public CheckpointHistory() {
        this(new CheckpointedPartitions());
    }

    /**
     * @param restored from which the backend was restored
     */
    CheckpointHistory(CheckpointedPartitions restored) {
        this.confirmed = restored;
    }

    /**
     * A checkpoint begins.
     *
     * @param builds whether it may refer to files of earlier ones
     */
    synchronized Attempt begin(long id, boolean builds) {
        Attempt attempt =
                new Attempt(
                        id,
                        builds ? confirmed : new CheckpointedPartitions(),
                        new ArrayList<>(unconfirmed));
        unconfirmed.add(attempt);
        return attempt;
    }

    /** A checkpoint has completed; of one that is not incremental nothing is known here. */
    public synchronized void confirmed(long id) {
        for (Attempt attempt : unconfirmed) {
            if (attempt.id == id && attempt.written != null) {
                confirmed = attempt.written;
                unconfirmed.removeIf(one -> one.id <= id);
                return;
            }
        }
    }

    /** A checkpoint will not complete. */
    public synchronized void aborted(long id) {
        for (Attempt attempt : new ArrayList<>(unconfirmed)) {
            if (attempt.id == id) {
                attempt.drop();
            }
        }
    }
}
