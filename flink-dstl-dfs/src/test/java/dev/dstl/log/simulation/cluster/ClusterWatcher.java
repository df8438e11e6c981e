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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.simulation.store.StoreWatcher;

/** Observes everything that happens to checkpoints and to files. */
public interface ClusterWatcher extends StoreWatcher {

    /** A persist succeeded with a handle to this file. */
    void handedOver(String file);

    /**
     * A persist succeeded.
     *
     * @param runs in its handle
     * @param newRuns those of them that no earlier handle of the changelog has, or that are inline
     * @param bytes of all runs
     * @param newBytes that the handle says are new
     */
    void persisted(int runs, int newRuns, long bytes, long newBytes);

    /** The JobManager has completed a checkpoint. */
    void completed(CompletedCheckpoint checkpoint);

    /** A task is about to restore, and this part of the newest checkpoint should be there. */
    void restoring(LocalSnapshot local);

    /** A task read something else from a checkpoint than was written. */
    void mismatched(LogMismatch mismatch);

    /**
     * A changelog without input for long, and without faults, has something that is not durable.
     */
    void uploadsLate(SimulatedLog log);

    /** Production code failed unexpectedly. */
    void failed(Throwable failure);
}
