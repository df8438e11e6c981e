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

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.overlay.PartitionPool;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.pressure.SpillMember;
import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.TablePlacement;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what the arbiter asks for, on the task thread, a slice at a time between records: at
 * most {@value #SLICE_NANOS} ns, then at least as long nothing. An idle task is woken through its
 * mailbox.
 *
 * <p>If no disk takes state, the rest of the request is dropped with one error; state stays where
 * it is. An entry that cannot be serialized keeps only its key group on the heap.
 */
public final class SpillScheduler implements StateMover, SpillMember {

    private static final Logger LOG = LoggerFactory.getLogger(SpillScheduler.class);

    private static final long SLICE_NANOS = 1_000_000;
    private static final long URGENT_SLICE_NANOS = 4_000_000;
    private static final int SPILLED_PER_STEP = 16;
    private static final int LOADED_PER_STEP = 64;
    private static final int KEYS_PER_REPORT = 4096;
    private static final int RESTORED_PER_LOOK = 1024;
    private static final long RESTORED_BYTES_PER_LOOK = 1 << 20;
    private static final long COOL_DOWN_NANOS = 10_000_000_000L;

    private final SpillConfig config;
    private final SpillArbiter arbiter;
    private final StateRegistry<?> states;
    private final SpillSpace space;
    private final Executor spaceOpener;
    @Nullable private final MailboxExecutor mailbox;
    private final LongSupplier clockNanos;
    private final SpillCounters counters;
    private final StateSizes sizes;
    private final TimerSizes timers;
    private final TimerLimit timerLimit;
    private final SpillRequest request = new SpillRequest();
    private final Thread taskThread = Thread.currentThread();

    /** Whether another thread selects keys, as in PyFlink, which the task thread must not meet. */
    private volatile boolean usedElsewhere;

    /** Whether the task thread moves state in a mail. */
    private volatile boolean moving;

    private final AtomicBoolean mailSent = new AtomicBoolean();
    private final AtomicBoolean opening = new AtomicBoolean();

    private int keysUntilReport;
    private long nextSliceNanos;
    private long nextCoolDownNanos;
    private boolean refusalLogged;
    private boolean unwritableLogged;
    private boolean unloadableLogged;
    private int restoredEntries;
    private long restoredBytes;
    private boolean restoresToHeap = true;

    /**
     * Joins the arbiter. To be called on the task thread, on which all state moves.
     *
     * @param space where state spills; not closed by this object
     * @param spaceOpener runs what makes the spill directories, once for a request
     * @param mailbox wakes the task thread, null if that is not needed
     * @param clockNanos time in nanoseconds, for the lengths of slices
     * @param counters take what is done and what is where
     */
    public SpillScheduler(
            SpillConfig config,
            SpillArbiter arbiter,
            StateRegistry<?> states,
            SpillSpace space,
            Executor spaceOpener,
            @Nullable MailboxExecutor mailbox,
            LongSupplier clockNanos,
            SpillCounters counters) {
        this.config = config;
        this.arbiter = arbiter;
        this.states = states;
        this.space = space;
        this.spaceOpener = spaceOpener;
        this.mailbox = mailbox;
        this.clockNanos = clockNanos;
        this.counters = counters;
        this.sizes = new StateSizes(counters);
        this.timers = new TimerSizes(counters);
        this.timerLimit = new TimerLimit(config);
        this.nextSliceNanos = clockNanos.getAsLong();
        this.nextCoolDownNanos = nextSliceNanos + COOL_DOWN_NANOS;
        arbiter.join(this);
    }

    @Override
    public void keySelected() {
        if (Thread.currentThread() != taskThread && !usedElsewhere) {
            usedElsewhere = true;
            while (moving) {
                // For a slice at most; from now on mails move nothing.
                Thread.onSpinWait();
            }
        }
        if (--keysUntilReport <= 0) {
            keysUntilReport = KEYS_PER_REPORT;
            report();
        }
        if (request.isOpen()) {
            workIfDue();
        }
    }

    @Override
    public boolean restoresToHeap(long bytes) throws IOException {
        restoredEntries++;
        restoredBytes += bytes;
        if (restoredEntries >= RESTORED_PER_LOOK || restoredBytes >= RESTORED_BYTES_PER_LOOK) {
            restoredEntries = 0;
            restoredBytes = 0;
            report();
            boolean toHeap = arbiter.hasRoomFor(this) || !spaceTakesMore(space.open());
            if (restoresToHeap && !toHeap) {
                LOG.info("The heap has no room for more restored state; {} spills the rest.", this);
            }
            restoresToHeap = toHeap;
        }
        // What a heap that is being filled has room for is no reason to load.
        if (request.asksToSpill()) {
            workIfDue();
        }
        return restoresToHeap;
    }

    @Override
    public void keyGroupRestored() {
        countTimers();
    }

    private void workIfDue() {
        long start = clockNanos.getAsLong();
        if (start - nextSliceNanos < 0) {
            return;
        }
        long slice = request.isUrgent() ? URGENT_SLICE_NANOS : SLICE_NANOS;
        try {
            while (request.isOpen() && clockNanos.getAsLong() - start < slice) {
                if (request.asksToSpill()) {
                    spillStep(start + slice);
                } else {
                    loadStep();
                }
            }
        } catch (IOException e) {
            refuse(e.getMessage(), e);
        }
        long end = clockNanos.getAsLong();
        counters.paused(end - start);
        nextSliceNanos = end + (request.isUrgent() ? slice / 4 : end - start);
        report();
    }

    private void spillStep(long sliceEnd) throws IOException {
        PartitionPool pool = space.open();
        if (!spaceTakesMore(pool)) {
            return;
        }
        ColdestPerByte.Choice choice = ColdestPerByte.toSpill(states.tables());
        if (choice == null) {
            request.drop();
            return;
        }
        TablePlacement placement = choice.placement;
        Residency residency = placement.residency(choice.position);
        if (residency == Residency.ON_HEAP || residency == Residency.LOADING) {
            placement.startSpill(choice.position);
        }
        while (placement.residency(choice.position) == Residency.SPILLING
                && request.asksToSpill()
                && clockNanos.getAsLong() - sliceEnd < 0) {
            long before = pool.liveBytes();
            int moved;
            try {
                moved = placement.spill(choice.position, SPILLED_PER_STEP);
            } catch (IOException e) {
                request.done((long) placement.movedBytes(choice.position));
                skip(placement.describe(choice.position), e);
                return;
            }
            counters.spilled(moved, Math.max(0, pool.liveBytes() - before));
            request.done((long) placement.movedBytes(choice.position));
        }
        refusalLogged = false;
    }

    private void skip(String keyGroup, IOException cause) {
        counters.refused();
        if (!unwritableLogged) {
            unwritableLogged = true;
            LOG.error(
                    "An entry cannot be serialized, so {} stays on the heap; other state is"
                            + " spilled. Checkpoints that include the entry fail as well. Logged"
                            + " once.",
                    keyGroup,
                    cause);
        }
    }

    /** Drops what is requested if there is no place for it. */
    private boolean spaceTakesMore(PartitionPool pool) {
        if (!pool.diskTakesMore()) {
            // The pool has said why.
            drop();
            return false;
        }
        return true;
    }

    private void loadStep() {
        double room = request.bytesToLoad();
        ColdestPerByte.Choice choice = ColdestPerByte.toLoad(states.tables(), room);
        if (choice == null) {
            request.drop();
            return;
        }
        TablePlacement placement = choice.placement;
        if (placement.residency(choice.position) != Residency.LOADING) {
            placement.startLoad(choice.position);
        }
        int spilled = placement.spilledEntries(choice.position);
        try {
            placement.load(choice.position, LOADED_PER_STEP, room);
        } catch (IOException e) {
            skipLoad(placement.describe(choice.position), e);
        }
        counters.loaded(spilled - placement.spilledEntries(choice.position));
        request.done((long) Math.ceil(placement.movedBytes(choice.position)));
    }

    private void skipLoad(String keyGroup, IOException cause) {
        counters.refused();
        if (!unloadableLogged) {
            unloadableLogged = true;
            LOG.error(
                    "An entry cannot be deserialized, so the rest of {} stays spilled; other state"
                            + " is loaded. The job fails if it asks for the entry. Logged once.",
                    keyGroup,
                    cause);
        }
    }

    private void drop() {
        request.drop();
        counters.refused();
    }

    private void refuse(String reason, @Nullable IOException cause) {
        drop();
        if (!refusalLogged) {
            refusalLogged = true;
            LOG.error("State cannot be spilled and stays on the heap: {}.", reason, cause);
        }
    }

    private void report() {
        long now = clockNanos.getAsLong();
        boolean coolDown = now - nextCoolDownNanos > 0;
        sizes.count(states.tables(), coolDown);
        countTimers();
        if (coolDown) {
            nextCoolDownNanos = now + COOL_DOWN_NANOS;
        }
    }

    private void countTimers() {
        timers.count(states.queues().values());
        timerLimit.check(timers, arbiter.timerRatio());
    }

    @Override
    public void close() {
        arbiter.leave(this);
    }

    @Override
    public SpillConfig config() {
        return config;
    }

    @Override
    public long heapStateBytes() {
        return sizes.heapBytes();
    }

    @Override
    public long timerBytes() {
        return timers.bytes();
    }

    @Override
    public long spilledStateBytes() {
        return sizes.spilledBytes();
    }

    @Override
    public double heatPerByte() {
        return sizes.heatPerByte();
    }

    @Override
    public void requestSpill(long bytes, boolean isUrgent) {
        if (space.pool() != null) {
            request(bytes, isUrgent);
        } else if (opening.compareAndSet(false, true)) {
            openThenRequest(bytes, isUrgent);
        }
    }

    /**
     * Makes the spill directories neither on the task thread, as it takes tens of milliseconds, nor
     * on this one: a disk that hangs must not hold up the arbiter, which all tasks need. Requests
     * that come meanwhile are dropped; the arbiter repeats them.
     */
    private void openThenRequest(long bytes, boolean isUrgent) {
        try {
            spaceOpener.execute(
                    () -> {
                        openSpace();
                        opening.set(false);
                        request(bytes, isUrgent);
                    });
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            // Without a thread the task makes them.
            opening.set(false);
            request(bytes, isUrgent);
        }
    }

    private void openSpace() {
        try {
            space.open();
        } catch (Throwable e) {
            // It would end the process. The task is about to meet the same and says what it means.
            LOG.debug("Cannot open the spill directories.", e);
        }
    }

    @Override
    public void requestLoad(long bytes) {
        request(-bytes, false);
    }

    private void request(long bytes, boolean isUrgent) {
        request.set(bytes, isUrgent);
        sendMail();
    }

    private void sendMail() {
        if (mailbox == null || !mailSent.compareAndSet(false, true)) {
            return;
        }
        try {
            mailbox.execute(this::onMail, "move state between heap and chunk files");
        } catch (RejectedExecutionException e) {
            LOG.debug("The task has ended; its state does not move any more.", e);
        }
    }

    private void onMail() {
        mailSent.set(false);
        // A mailbox without a thread of its own, as in test harnesses, runs mails on the sender's.
        if (request.isOpen() && Thread.currentThread() == taskThread && move()) {
            sendMail();
        }
    }

    /** Returns false if another thread uses the state. */
    private boolean move() {
        moving = true;
        try {
            if (usedElsewhere) {
                return false;
            }
            workIfDue();
            return true;
        } finally {
            moving = false;
        }
    }

    @Override
    public String toString() {
        return "a backend with " + sizes.heapBytes() + " bytes of state on the heap";
    }
}
