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

import com.google.errorprone.annotations.FormatMethod;
import dev.dstl.log.simulation.cluster.Cluster;
import dev.dstl.log.simulation.cluster.ClusterWatcher;
import dev.dstl.log.simulation.cluster.CompletedCheckpoint;
import dev.dstl.log.simulation.cluster.LocalSnapshot;
import dev.dstl.log.simulation.cluster.LogMismatch;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import java.util.function.BiConsumer;

/**
 * An invariant of every simulation. Checks the events it receives and, after every step, the
 * cluster. Records a violation instead of throwing, since events may come from within production
 * code.
 */
public abstract class Invariant implements ClusterWatcher {

    private Cluster cluster;
    private BiConsumer<Invariant, String> violations;

    /** Called once, before the first step. */
    public void watch(Cluster watched, BiConsumer<Invariant, String> violated) {
        cluster = watched;
        violations = violated;
    }

    final Cluster cluster() {
        return cluster;
    }

    @FormatMethod
    final void violated(String how, Object... details) {
        violations.accept(this, String.format(how, details));
    }

    /** Called after each step. */
    public void afterStep() {}

    /** Called some time after the last fault, under the same load as before. */
    public void recovered() {}

    /** Called after a further period without faults. */
    public void observed() {}

    /** Called when faults and pending work have ended, while the job still runs. */
    public void settled() {}

    /** Called when the job has ended, its changelogs are closed and no checkpoint is retained. */
    public void ended() {}

    @Override
    public void created(String file, String client) {}

    @Override
    public void sent(String file, String client, long bytes, boolean faultless) {}

    @Override
    public void answered(String file, String client) {}

    @Override
    public void stored(String file) {}

    @Override
    public void deleteRequested(String file, String client, boolean existed, boolean done) {}

    @Override
    public void handedOver(String file) {}

    @Override
    public void persisted(int runs, int newRuns, long bytes, long newBytes) {}

    @Override
    public void completed(CompletedCheckpoint checkpoint) {}

    @Override
    public void restoring(LocalSnapshot local) {}

    @Override
    public void mismatched(LogMismatch mismatch) {}

    @Override
    public void uploadsLate(SimulatedLog log) {}

    @Override
    public void failed(Throwable failure) {}

    @Override
    public String toString() {
        return getClass().getSimpleName();
    }
}
