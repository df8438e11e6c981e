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

import dev.dstl.log.simulation.cluster.FileHistory;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import dev.dstl.log.simulation.store.SimulatedFileSystem;

/**
 * A file belongs to the TaskManager that wrote it until a handle with it is sent to the JobManager,
 * and to the JobManager from then on: only the owner deletes it, and only the writer writes it,
 * once.
 */
public final class AtMostOneOwner extends Invariant {

    @Override
    public void created(String file, String client) {
        FileHistory history = cluster().history(file);
        if (!history.writer().equals(client)) {
            violated("%s writes %s of %s", client, file, history.writer());
        }
        if (history.creations() > 1) {
            violated("%s is written %d times", file, history.creations());
        }
    }

    @Override
    public void handedOver(String file) {
        if (cluster().history(file).isDeletedByWriter()) {
            violated("%s is handed over after its writer deleted it", file);
        }
    }

    @Override
    public void deleteRequested(String file, String client, boolean existed, boolean done) {
        FileHistory history = cluster().history(file);
        if (client.equals(SimulatedFileSystem.READER)) {
            if (!history.isHandedOver()) {
                violated("the JobManager deletes %s, which it was never given", file);
            }
        } else if (!client.equals(history.writer())) {
            violated("%s deletes %s of %s", client, file, history.writer());
        } else if (history.isHandedOver()) {
            violated("%s deletes %s, which it handed over", client, file);
        }
    }

    /**
     * Everything durable is in the last checkpoint by now, so no changelog believes to own a
     * segment.
     */
    @Override
    public void settled() {
        for (SimulatedLog log : cluster().logs()) {
            if (!log.isVanished() && log.ownedSegments() != 0) {
                violated("%s believes to own %d segments", log.incarnation(), log.ownedSegments());
            }
        }
    }
}
