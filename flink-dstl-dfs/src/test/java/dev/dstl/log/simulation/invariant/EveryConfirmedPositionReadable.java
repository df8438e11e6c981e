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
import java.io.IOException;

/**
 * Every segment of every retained checkpoint is completely in the store at any time, and every
 * position in it can be read.
 */
public final class EveryConfirmedPositionReadable extends Invariant {

    private long seenLosses;
    private CompletedCheckpoint newest;

    @Override
    public void completed(CompletedCheckpoint checkpoint) {
        newest = checkpoint;
    }

    @Override
    public void afterStep() {
        long losses = cluster().store().losses();
        if (losses == seenLosses && newest == null) {
            return;
        }
        seenLosses = losses;
        newest = null;
        for (CompletedCheckpoint checkpoint : cluster().retained()) {
            checkpoint.fileSizes().forEach((file, bytes) -> check(checkpoint, file, bytes));
        }
    }

    private void check(CompletedCheckpoint checkpoint, String file, long bytes) {
        byte[] found = cluster().store().bytes(file);
        if (found == null || found.length != bytes) {
            violated(
                    "checkpoint %d needs %s of %d bytes, found %s",
                    checkpoint.id(), file, bytes, found == null ? "none" : found.length + " bytes");
        }
    }

    @Override
    public void settled() {
        for (CompletedCheckpoint checkpoint : cluster().retained()) {
            for (TaskSnapshot snapshot : checkpoint.snapshots()) {
                snapshot.log().forEach(part -> read(checkpoint, part));
            }
        }
    }

    private void read(CompletedCheckpoint checkpoint, LogHandle part) {
        try {
            cluster().store().withoutFaults(part::read);
        } catch (IOException | RuntimeException e) {
            violated("checkpoint %d cannot be read: %s", checkpoint.id(), e);
        }
    }
}
