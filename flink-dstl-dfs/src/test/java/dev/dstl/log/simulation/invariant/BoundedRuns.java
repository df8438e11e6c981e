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

package dev.dstl.log.simulation.invariant;

import dev.dstl.log.simulation.cluster.CompletedCheckpoint;
import dev.dstl.log.simulation.cluster.LogHandle;
import dev.dstl.log.simulation.cluster.TaskSnapshot;

/**
 * A checkpoint names no more runs than documented, however long the changelog is, except for runs
 * that are too large to be compacted.
 */
public final class BoundedRuns extends Invariant {

    @Override
    public void settled() {
        for (CompletedCheckpoint checkpoint : cluster().retained()) {
            if (checkpoint.id() == checkpoint.job().jobManager().newestCompletedId()) {
                checkpoint.snapshots().forEach(snapshot -> check(checkpoint, snapshot));
            }
        }
    }

    private void check(CompletedCheckpoint checkpoint, TaskSnapshot snapshot) {
        LogHandle own = snapshot.own();
        if (own == null || snapshot.compactionBounds() == null) {
            return;
        }
        long most = snapshot.compactionBounds().mostRuns(own);
        if (own.runs() > most) {
            violated(
                    "checkpoint %d names %d runs of a changelog of %d bytes, limit %d",
                    checkpoint.id(), own.runs(), own.bytes(), most);
        }
    }
}
