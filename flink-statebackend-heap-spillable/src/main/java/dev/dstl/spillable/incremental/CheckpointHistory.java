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

    /**
     * What became of a checkpoint so far. It does not know on what the checkpoint builds: each
     * would keep all before it reachable.
     */
    private static final class Outcome {
        private final long id;
        @Nullable private CheckpointedPartitions written;
        private boolean dropped;

        private Outcome(long id) {
            this.id = id;
        }

        private boolean keeps(SharedFile file) {
            return dropped || (written != null && written.refersTo(file));
        }
    }

    /** A checkpoint that has begun; whoever writes it keeps it until it is written. */
    final class Attempt {
        private final Outcome outcome;
        private final CheckpointedPartitions base;
        private final List<Outcome> before;

        private Attempt(Outcome outcome, CheckpointedPartitions base, List<Outcome> before) {
            this.outcome = outcome;
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
                for (Outcome one : before) {
                    if (!one.keeps(file)) {
                        return false;
                    }
                }
                return true;
            }
        }

        /** All files of the checkpoint are written. */
        void written(CheckpointedPartitions partitions) {
            synchronized (CheckpointHistory.this) {
                if (!outcome.dropped) {
                    outcome.written = partitions;
                }
            }
        }

        /** The checkpoint will not complete. */
        void drop() {
            synchronized (CheckpointHistory.this) {
                CheckpointHistory.this.drop(outcome);
            }
        }
    }

    private final List<Outcome> unconfirmed = new ArrayList<>();
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
        Outcome outcome = new Outcome(id);
        Attempt attempt =
                new Attempt(
                        outcome,
                        builds ? confirmed : new CheckpointedPartitions(),
                        new ArrayList<>(unconfirmed));
        unconfirmed.add(outcome);
        return attempt;
    }

    /** A checkpoint has completed; of one that is not incremental nothing is known here. */
    public synchronized void confirmed(long id) {
        for (Outcome outcome : unconfirmed) {
            if (outcome.id == id && outcome.written != null) {
                confirmed = outcome.written;
                unconfirmed.removeIf(one -> one.id <= id);
                return;
            }
        }
    }

    /** A checkpoint will not complete. */
    public synchronized void aborted(long id) {
        for (Outcome outcome : new ArrayList<>(unconfirmed)) {
            if (outcome.id == id) {
                drop(outcome);
            }
        }
    }

    private void drop(Outcome outcome) {
        outcome.dropped = true;
        outcome.written = null;
        unconfirmed.remove(outcome);
    }
}
