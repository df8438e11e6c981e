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
import dev.dstl.log.simulation.cluster.LocalSnapshot;
import dev.dstl.log.simulation.cluster.TaskSnapshot;

/** Local copies that the newest checkpoint of a running process names are never deleted. */
public final class LocalCopiesStay extends Invariant {

    @Override
    public void completed(CompletedCheckpoint checkpoint) {
        for (TaskSnapshot snapshot : checkpoint.snapshots()) {
            LocalSnapshot local = snapshot.local();
            String missing = local == null ? null : local.missing();
            if (missing != null) {
                violated("checkpoint %d needs the local copy %s", checkpoint.id(), missing);
            }
        }
    }

    @Override
    public void restoring(LocalSnapshot local) {
        String missing = local.missing();
        if (missing != null) {
            violated("a task cannot restore from the local copy %s", missing);
        }
    }
}
