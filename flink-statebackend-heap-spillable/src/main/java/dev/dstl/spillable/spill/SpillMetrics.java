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

package dev.dstl.spillable.spill;

import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.pressure.SpillArbiter;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Every metric of a backend, in the operator's group {@code spillable}. Bytes are bytes, times are
 * milliseconds; totals count since the task started.
 */
public final class SpillMetrics {

    private final MetricGroup group;
    private final SpillSpace space;

    private SpillMetrics(MetricGroup group, SpillSpace space) {
        this.group = group;
        this.space = space;
    }

    /**
     * Registers the metrics, which Flink drops with the group.
     *
     * @param operator group of the operator's subtask
     */
    public static void register(
            MetricGroup operator, SpillCounters counters, SpillSpace space, SpillArbiter arbiter) {
        SpillMetrics metrics = new SpillMetrics(operator.addGroup("spillable"), space);
        metrics.gauge("heapEntries", counters::heapEntries);
        metrics.gauge("spilledEntries", counters::spilledEntries);
        metrics.gauge("heapKeyGroups", counters::heapGroups);
        metrics.gauge("spilledKeyGroups", counters::spilledGroups);
        metrics.gauge("heapStateBytesEstimate", counters::heapBytes);
        metrics.gauge("timers", counters::timers);
        metrics.gauge("timerBytesEstimate", counters::timerBytes);
        metrics.gauge("spilledEntriesTotal", counters::movedOut);
        metrics.gauge("spilledBytesTotal", counters::movedOutBytes);
        metrics.gauge("loadedEntriesTotal", counters::movedIn);
        metrics.gauge("refusedSpillsTotal", counters::refusals);
        metrics.gauge("longestPauseMillis", () -> counters.longestPauseNanos() / 1_000_000.0);
        metrics.gauge("liveHeapRatio", arbiter::liveRatio);
        metrics.poolGauge("entryBytes", PartitionPool::liveBytes);
        metrics.poolGauge("sealedBytesTotal", PartitionPool::sealedBytes);
        metrics.poolGauge("mergesTotal", PartitionPool::merges);
        metrics.poolGauge("pageReadsTotal", PartitionPool::pageReadCount);
        metrics.poolGauge("overlayBytes", PartitionPool::overlayBytes);
        metrics.poolGauge("offHeapBytes", pool -> pool.budget().usedBytes());
        metrics.poolGauge("offHeapLimitBytes", pool -> pool.budget().limitBytes());
        metrics.poolGauge("chunkFileBytes", pool -> pool.chunks().fileBytes());
        metrics.poolGauge("chunkOccupiedBytes", pool -> pool.chunks().occupiedBytes());
    }

    /**
     * Registers the metrics of the copies of incremental checkpoints on the local disk.
     *
     * @param operator group of the operator's subtask
     * @param copies number of checkpoints that were copied
     * @param failures number of checkpoints that could not be copied
     */
    public static void registerLocalCopies(
            MetricGroup operator, LongSupplier copies, LongSupplier failures) {
        MetricGroup group = operator.addGroup("spillable");
        group.<Long, Gauge<Long>>gauge("localCopiesTotal", copies::getAsLong);
        group.<Long, Gauge<Long>>gauge("localCopyFailuresTotal", failures::getAsLong);
    }

    private <T> void gauge(String name, Gauge<T> gauge) {
        group.gauge(name, gauge);
    }

    /** A number of the pool, 0 as long as nothing was ever spilled. */
    private void poolGauge(String name, ToLongFunction<PartitionPool> value) {
        group.<Long, Gauge<Long>>gauge(
                name,
                () -> {
                    PartitionPool pool = space.pool();
                    return pool == null ? 0L : value.applyAsLong(pool);
                });
    }
}
