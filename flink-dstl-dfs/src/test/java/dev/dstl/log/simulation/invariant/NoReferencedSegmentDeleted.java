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

/**
 * No deletion is even requested of a segment that a retained checkpoint needs, or that a pending
 * checkpoint was given.
 */
public final class NoReferencedSegmentDeleted extends Invariant {

    @Override
    public void deleteRequested(String file, String client, boolean existed, boolean done) {
        for (CompletedCheckpoint checkpoint : cluster().retained()) {
            if (checkpoint.files().contains(file)) {
                violated("%s deletes %s of checkpoint %d", client, file, checkpoint.id());
            }
        }
        if (cluster().isPendingWith(file)) {
            violated("%s deletes %s of a checkpoint under way", client, file);
        }
    }
}
