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

package dev.dstl.changelog.checkpoint;

import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.state.changelog.SequenceNumber;

/**
 * The checkpoints of one backend that may still be needed. Notifications may arrive in any order,
 * late, repeatedly or never, and may concern checkpoints of other attempts. Used by the task
 * thread.
 */
public final class CheckpointLedger {

    private final NavigableMap<Long, LoggedCheckpoint> checkpoints = new TreeMap<>();
    private final Set<Long> confirmed = new HashSet<>();
    private final AtomicReference<OptionalLong> onlyPending =
            new AtomicReference<>(OptionalLong.empty());

    /**
     * Records a checkpoint when it starts.
     *
     * @param from start of its changelog, inclusive; not before that of any earlier checkpoint
     * @param to end of its changelog, exclusive; not before that of any earlier checkpoint
     */
    public void started(
            long checkpointId, long materializationId, SequenceNumber from, SequenceNumber to) {
        checkpoints.put(
                checkpointId, new LoggedCheckpoint(checkpointId, materializationId, from, to));
        pendingChanged();
    }

    /**
     * Tells whether a later checkpoint may complete before this one, or has done so: unless this is
     * the only one that is neither complete nor aborted nor subsumed. May be asked on any thread,
     * and keeps nothing else, as Flink keeps checkpoints.
     */
    public BooleanSupplier overtakable(long checkpointId) {
        AtomicReference<OptionalLong> only = onlyPending;
        return () -> !only.get().equals(OptionalLong.of(checkpointId));
    }

    private void pendingChanged() {
        onlyPending.set(
                checkpoints.size() - confirmed.size() == 1
                        ? checkpoints.keySet().stream()
                                .filter(id -> !confirmed.contains(id))
                                .mapToLong(Long::longValue)
                                .findFirst()
                        : OptionalLong.empty());
    }

    /**
     * Records that a checkpoint is complete.
     *
     * @return empty if this backend did not take it, if it is subsumed, or if it is known to be
     *     complete
     */
    public Optional<LoggedCheckpoint> confirm(long checkpointId) {
        LoggedCheckpoint checkpoint = checkpoints.get(checkpointId);
        if (checkpoint == null || !confirmed.add(checkpointId)) {
            return Optional.empty();
        }
        pendingChanged();
        return Optional.of(checkpoint);
    }

    /**
     * Records that a checkpoint was aborted.
     *
     * @return the part of its changelog that no other checkpoint covers; empty if there is none, or
     *     if the checkpoint is unknown, subsumed or complete
     */
    public Optional<LoggedCheckpoint> abort(long checkpointId) {
        if (confirmed.contains(checkpointId)) {
            return Optional.empty();
        }
        LoggedCheckpoint aborted = checkpoints.remove(checkpointId);
        if (aborted == null) {
            return Optional.empty();
        }
        pendingChanged();
        SequenceNumber from = aborted.from();
        SequenceNumber to = aborted.to();
        Map.Entry<Long, LoggedCheckpoint> earlier = checkpoints.lowerEntry(checkpointId);
        if (earlier != null && earlier.getValue().to().compareTo(from) > 0) {
            from = earlier.getValue().to();
        }
        Map.Entry<Long, LoggedCheckpoint> later = checkpoints.higherEntry(checkpointId);
        if (later != null && later.getValue().from().compareTo(to) < 0) {
            to = later.getValue().from();
        }
        return from.compareTo(to) < 0
                ? Optional.of(
                        new LoggedCheckpoint(checkpointId, aborted.materializationId(), from, to))
                : Optional.empty();
    }

    /**
     * Records that all checkpoints up to and including this one are subsumed.
     *
     * @return end of the newest one's changelog, exclusive; empty if none is known
     */
    public Optional<SequenceNumber> subsume(long checkpointId) {
        NavigableMap<Long, LoggedCheckpoint> subsumed = checkpoints.headMap(checkpointId, true);
        if (subsumed.isEmpty()) {
            return Optional.empty();
        }
        SequenceNumber to = subsumed.lastEntry().getValue().to();
        confirmed.removeAll(subsumed.keySet());
        subsumed.clear();
        pendingChanged();
        return Optional.of(to);
    }
}
