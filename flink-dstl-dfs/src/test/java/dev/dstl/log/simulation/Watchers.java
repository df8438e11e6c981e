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

package dev.dstl.log.simulation;

import dev.dstl.log.simulation.cluster.Cluster;
import dev.dstl.log.simulation.cluster.ClusterWatcher;
import dev.dstl.log.simulation.cluster.CompletedCheckpoint;
import dev.dstl.log.simulation.cluster.LocalSnapshot;
import dev.dstl.log.simulation.cluster.LogMismatch;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import dev.dstl.log.simulation.invariant.AtMostOneOwner;
import dev.dstl.log.simulation.invariant.BoundedMemory;
import dev.dstl.log.simulation.invariant.BoundedRuns;
import dev.dstl.log.simulation.invariant.BudgetReturnsToZero;
import dev.dstl.log.simulation.invariant.EveryConfirmedPositionReadable;
import dev.dstl.log.simulation.invariant.Frugality;
import dev.dstl.log.simulation.invariant.IncrementalSizes;
import dev.dstl.log.simulation.invariant.Invariant;
import dev.dstl.log.simulation.invariant.Liveness;
import dev.dstl.log.simulation.invariant.LocalCopiesStay;
import dev.dstl.log.simulation.invariant.NoReferencedSegmentDeleted;
import dev.dstl.log.simulation.invariant.NothingFailsUnexpectedly;
import dev.dstl.log.simulation.invariant.NothingUnreferencedLeftAfterQuiescence;
import dev.dstl.log.simulation.invariant.ReplayEqualsModel;
import dev.dstl.log.simulation.invariant.UploadedInTime;
import java.util.ArrayList;
import java.util.List;

/** All invariants and their violations. */
final class Watchers implements ClusterWatcher {

    private final List<Invariant> invariants;
    private final Liveness liveness = new Liveness();
    private final List<String> violated = new ArrayList<>();
    private final List<String> violations = new ArrayList<>();
    private long completedCheckpoints;

    Watchers(NothingUnreferencedLeftAfterQuiescence leftovers) {
        invariants =
                List.of(
                        new EveryConfirmedPositionReadable(),
                        new ReplayEqualsModel(),
                        new NoReferencedSegmentDeleted(),
                        leftovers,
                        new BudgetReturnsToZero(),
                        new AtMostOneOwner(),
                        new NothingFailsUnexpectedly(),
                        liveness,
                        new Frugality(),
                        new BoundedMemory(),
                        new BoundedRuns(),
                        new UploadedInTime(),
                        new LocalCopiesStay(),
                        new IncrementalSizes());
    }

    void watch(Cluster cluster) {
        invariants.forEach(
                invariant ->
                        invariant.watch(cluster, (which, how) -> violated(which.toString(), how)));
    }

    private void violated(String which, String how) {
        violated.add(which);
        violations.add(which + ": " + how);
    }

    /** Reports that nothing completes although all faults have ended. */
    void never() {
        liveness.never();
    }

    boolean hasViolation() {
        return !violations.isEmpty();
    }

    /** Names of violated invariants, in the order in which they were found. */
    List<String> violated() {
        return violated;
    }

    List<String> violations() {
        return violations;
    }

    void afterStep() {
        for (Invariant invariant : invariants) {
            invariant.afterStep();
        }
    }

    void recovered() {
        invariants.forEach(Invariant::recovered);
    }

    void observed() {
        invariants.forEach(Invariant::observed);
    }

    void settled() {
        invariants.forEach(Invariant::settled);
    }

    void ended() {
        invariants.forEach(Invariant::ended);
    }

    @Override
    public void created(String file, String client) {
        invariants.forEach(invariant -> invariant.created(file, client));
    }

    @Override
    public void sent(String file, String client, long bytes, boolean faultless) {
        invariants.forEach(invariant -> invariant.sent(file, client, bytes, faultless));
    }

    @Override
    public void answered(String file, String client) {
        invariants.forEach(invariant -> invariant.answered(file, client));
    }

    @Override
    public void stored(String file) {
        invariants.forEach(invariant -> invariant.stored(file));
    }

    @Override
    public void deleteRequested(String file, String client, boolean existed, boolean done) {
        invariants.forEach(invariant -> invariant.deleteRequested(file, client, existed, done));
    }

    @Override
    public void handedOver(String file) {
        invariants.forEach(invariant -> invariant.handedOver(file));
    }

    long completedCheckpoints() {
        return completedCheckpoints;
    }

    @Override
    public void persisted(int runs, int newRuns, long bytes, long newBytes) {
        invariants.forEach(invariant -> invariant.persisted(runs, newRuns, bytes, newBytes));
    }

    @Override
    public void completed(CompletedCheckpoint checkpoint) {
        completedCheckpoints++;
        invariants.forEach(invariant -> invariant.completed(checkpoint));
    }

    @Override
    public void restoring(LocalSnapshot local) {
        invariants.forEach(invariant -> invariant.restoring(local));
    }

    @Override
    public void mismatched(LogMismatch mismatch) {
        invariants.forEach(invariant -> invariant.mismatched(mismatch));
    }

    @Override
    public void uploadsLate(SimulatedLog log) {
        invariants.forEach(invariant -> invariant.uploadsLate(log));
    }

    @Override
    public void failed(Throwable failure) {
        invariants.forEach(invariant -> invariant.failed(failure));
    }
}
