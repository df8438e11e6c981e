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
import dev.dstl.log.simulation.cluster.LogMismatch;
import dev.dstl.log.simulation.cluster.TaskSnapshot;
import java.io.IOException;

/**
 * Base and changelog of a completed checkpoint amount to the state that the task had at its
 * barrier. Checked when a checkpoint completes, when a task restores its part, and at the end.
 */
public final class ReplayEqualsModel extends Invariant {

    @Override
    public void completed(CompletedCheckpoint checkpoint) {
        verify(checkpoint);
    }

    @Override
    public void mismatched(LogMismatch mismatch) {
        violated("%s", mismatch.getMessage());
    }

    @Override
    public void settled() {
        cluster().retained().forEach(this::verify);
    }

    private void verify(CompletedCheckpoint checkpoint) {
        for (TaskSnapshot snapshot : checkpoint.snapshots()) {
            try {
                cluster()
                        .store()
                        .withoutFaults(
                                () -> {
                                    snapshot.verify();
                                    return null;
                                });
            } catch (LogMismatch mismatch) {
                violated("checkpoint %d: %s", checkpoint.id(), mismatch.getMessage());
            } catch (IOException | RuntimeException e) {
                violated("checkpoint %d cannot be replayed: %s", checkpoint.id(), e);
            }
        }
    }
}
