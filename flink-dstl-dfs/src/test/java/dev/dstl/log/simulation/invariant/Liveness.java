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
import dev.dstl.log.simulation.cluster.SimulatedJob;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import dev.dstl.log.simulation.store.SharedLink;
import java.util.HashSet;
import java.util.Set;
import javax.annotation.Nullable;

/**
 * Some time after the last fault, checkpoint durations are normal again under the same load, and no
 * upload, compaction or persist hangs.
 */
public final class Liveness extends Invariant {

    /** Time for messages, barriers, waiting for other tasks and slightly late threads. */
    private static final long OVERHEAD_MILLIS = 3_000;

    /** A checkpoint may wait for earlier requests and for a hedged attempt. */
    private static final long REQUESTS_IN_A_ROW = 3;

    /** Approximate maximum size of a checkpoint. */
    private static final long CHECKPOINT_BYTES = 20_000;

    private static final double MOST_UTILIZATION = 0.75;

    private final Set<SimulatedJob> completed = new HashSet<>();
    private boolean recovered;
    private long recoveredMillis;
    private long busyMillisBefore;

    @Override
    public void recovered() {
        recovered = true;
        recoveredMillis = cluster().schedule().nowMillis();
        SharedLink link = cluster().store().link();
        busyMillisBefore = link == null ? 0 : link.busyMillis();
    }

    @Override
    public void completed(CompletedCheckpoint checkpoint) {
        if (!recovered || checkpoint.triggeredMillis() < recoveredMillis) {
            return;
        }
        completed.add(checkpoint.job());
        if (checkpoint.durationMillis() > usualMillis()) {
            violated(
                    "checkpoint %d took %d ms, more than %d, %d ms after the last fault",
                    checkpoint.id(),
                    checkpoint.durationMillis(),
                    usualMillis(),
                    cluster().fairMillis());
        }
    }

    private long usualMillis() {
        SharedLink link = cluster().store().link();
        long requestMillis = cluster().store().weather().fairLatencyMillis();
        long linkMillis =
                link == null ? 0 : link.aloneMillis(cluster().jobs().size() * CHECKPOINT_BYTES);
        return OVERHEAD_MILLIS
                + REQUESTS_IN_A_ROW * requestMillis
                + (long) (linkMillis / (1 - linkUtilization(link)));
    }

    /**
     * Where all transfers share a link equally, one takes 1 / (1 - utilization) times as long as
     * alone in the mean (processor sharing, see Kleinrock, Queueing Systems, volume 2). Nobody is
     * excused who fills the link.
     */
    private double linkUtilization(@Nullable SharedLink link) {
        long millis = cluster().schedule().nowMillis() - recoveredMillis;
        return link == null || millis == 0
                ? 0
                : Math.min(
                        MOST_UTILIZATION, (link.busyMillis() - busyMillisBefore) / (double) millis);
    }

    @Override
    public void observed() {
        for (SimulatedJob job : cluster().jobs()) {
            if (!completed.contains(job)) {
                violated(
                        "%s completed no checkpoint although there was no fault for %d ms",
                        job, cluster().fairMillis());
            }
        }
    }

    /** Reports that no checkpoint completes although all faults have ended. */
    public void never() {
        for (SimulatedJob job : cluster().jobs()) {
            violated(
                    "%s completes no checkpoint, the newest is %d",
                    job, job.jobManager().newestCompletedId());
        }
    }

    @Override
    public void settled() {
        for (SimulatedLog log : cluster().logs()) {
            if (!log.isVanished()) {
                check(log, "uploads", log.uploadsUnderWay(), log.deafUploads());
                check(log, "compactions", log.compactionsUnderWay(), 0);
                check(log, "slow attempts", log.slowAttempts(), log.deafUploads());
            }
        }
    }

    private void check(SimulatedLog log, String what, int stuck, int excused) {
        if (stuck > excused) {
            violated("%s has %d %s that are stuck", log.incarnation(), stuck, what);
        }
    }
}
