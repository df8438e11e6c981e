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

package dev.dstl.spillable.pressure;

import dev.dstl.spillable.config.SpillConfig;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides for all backends of a TaskManager who spills and who loads. Members join and leave on
 * task threads; decisions are made on the thread that reports garbage collections.
 *
 * <pre>{@code
 * live share of the heap
 * 0      load-start      load-end       spill-end      spill-start       1
 * |--------->|              |               |              |<------------|
 *   load up to load-end     |   (nothing)   |    spill down to spill-end
 * }</pre>
 *
 * Bytes to spill are shared out by size and coldness; colder state goes first. Timers count as live
 * but cannot be spilled, so state makes room for them as long as there is any. After a decision
 * nothing is decided for the trigger interval, so that collections can show what it did, unless the
 * heap is nearly full all the same.
 */
public final class SpillArbiter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SpillArbiter.class);

    private static final double URGENT_RATIO = 0.9;

    /** Changed under the lock; task threads read it without waiting for a decision. */
    private final List<SpillMember> members = new CopyOnWriteArrayList<>();

    private final LongSupplier clockMillis;
    private final long heapBytes;
    private final Runnable stopSource;
    private long decidedAtMillis;
    private long pauseMillis;
    private volatile double liveRatio;

    /** Live bytes that were neither state nor timers, as of the last report of live bytes. */
    private long otherBytes;

    /** Starts whatever reports garbage collections to the arbiter. */
    public interface Source {
        /**
         * Starts the reports, on a thread of the source's choice.
         *
         * @return what stops them
         */
        Runnable start(SpillArbiter arbiter);
    }

    /**
     * @param clockMillis milliseconds since any moment, for the trigger interval; one that nobody
     *     sets
     * @param heapBytes most bytes of live objects
     * @param source started at once, stopped by {@link #close()}
     */
    public SpillArbiter(LongSupplier clockMillis, long heapBytes, Source source) {
        this.clockMillis = clockMillis;
        this.heapBytes = heapBytes;
        this.stopSource = source.start(this);
    }

    /** Takes a backend into account from now on. */
    public synchronized void join(SpillMember member) {
        members.add(member);
    }

    /** Forgets a backend; it gets no request afterwards. */
    public synchronized void leave(SpillMember member) {
        members.remove(member);
    }

    /**
     * Whether restored state finds room on the heap, so that nothing has to be spilled for it. Does
     * not wait for a collection: goes by what members say that their state and timers take.
     */
    public synchronized boolean hasRoomFor(SpillMember member) {
        return otherBytes + memberBytes() < member.config().spillEndRatio() * heapBytes;
    }

    /** Share of the heap that the timers of all members take, as they estimate it. */
    public double timerRatio() {
        return (double) members.stream().mapToLong(SpillMember::timerBytes).sum() / heapBytes;
    }

    /** Live share of the heap as of the last report. */
    public double liveRatio() {
        return liveRatio;
    }

    /**
     * Takes note of the live bytes of the heap.
     *
     * @return whether state is going to move because of it
     */
    public synchronized boolean onLiveHeap(long liveBytes, long maxBytes) {
        liveRatio = (double) liveBytes / maxBytes;
        otherBytes = Math.max(0, liveBytes - memberBytes());
        return mayDecide(liveRatio)
                && paused(spill(liveBytes, maxBytes) || load(liveBytes, maxBytes));
    }

    /**
     * Takes note of what a garbage collection left that did not look for all garbage. What state
     * and timers are known to take is live all the same: state that grows fast, as when it is
     * restored, would otherwise have filled the heap to the last byte when the first full
     * collection measures it.
     *
     * @return whether state is going to move because of it
     */
    public synchronized boolean onOccupiedHeap(long occupiedBytes, long maxBytes) {
        long liveBytes = Math.min(occupiedBytes, otherBytes + memberBytes());
        return mayDecide((double) liveBytes / maxBytes) && paused(spill(liveBytes, maxBytes));
    }

    private long memberBytes() {
        return members.stream()
                .mapToLong(member -> member.heapStateBytes() + member.timerBytes())
                .sum();
    }

    private boolean mayDecide(double ratio) {
        return !members.isEmpty() && (ratio > URGENT_RATIO || !isPaused());
    }

    private boolean isPaused() {
        long passed = clockMillis.getAsLong() - decidedAtMillis;
        // A clock that was set back says nothing.
        return passed >= 0 && passed < pauseMillis;
    }

    /** Waits for what a decision, if there was one, does. */
    private boolean paused(boolean decided) {
        if (decided) {
            pauseMillis =
                    members.stream()
                            .mapToLong(member -> member.config().triggerIntervalMillis())
                            .min()
                            .orElse(0);
            decidedAtMillis = clockMillis.getAsLong();
        }
        return decided;
    }

    private boolean spill(long liveBytes, long maxBytes) {
        double ratio = (double) liveBytes / maxBytes;
        boolean urgent = ratio > URGENT_RATIO;
        double meanHeat =
                members.stream().mapToDouble(SpillMember::heatPerByte).average().orElse(0);
        double weights = 0;
        for (SpillMember member : members) {
            weights += weight(member, meanHeat);
        }
        boolean spilling = false;
        for (SpillMember member : members) {
            SpillConfig config = member.config();
            if (ratio <= config.spillStartRatio() || weights == 0) {
                continue;
            }
            double excess = liveBytes - config.spillEndRatio() * maxBytes;
            double share = excess * weight(member, meanHeat) / weights;
            double most = member.heapStateBytes() * config.spillSizeRatio() * (urgent ? 2 : 1);
            long bytes = (long) Math.min(share, most);
            if (bytes > 0) {
                LOG.info(
                        "Live heap is {} of {} bytes; {} spills about {} bytes of state.",
                        liveBytes,
                        maxBytes,
                        member,
                        bytes);
                member.requestSpill(bytes, urgent);
                spilling = true;
            }
        }
        return spilling;
    }

    /** Size, doubled for what is never accessed and small for what is hot. */
    private static double weight(SpillMember member, double meanHeat) {
        double relativeHeat = meanHeat == 0 ? 1 : member.heatPerByte() / meanHeat;
        return member.heapStateBytes() * 2.0 / (1 + relativeHeat);
    }

    private boolean load(long liveBytes, long maxBytes) {
        double ratio = (double) liveBytes / maxBytes;
        double spilled = members.stream().mapToDouble(SpillMember::spilledStateBytes).sum();
        boolean loading = false;
        for (SpillMember member : members) {
            SpillConfig config = member.config();
            if (ratio >= config.loadStartRatio() || member.spilledStateBytes() == 0) {
                continue;
            }
            double room = config.loadEndRatio() * maxBytes - liveBytes;
            long bytes = (long) (room * member.spilledStateBytes() / spilled);
            if (bytes > 0) {
                member.requestLoad(bytes);
                loading = true;
            }
        }
        return loading;
    }

    @Override
    public void close() {
        stopSource.run();
    }
}
