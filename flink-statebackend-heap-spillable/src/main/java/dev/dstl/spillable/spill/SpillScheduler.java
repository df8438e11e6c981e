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
import dev.dstl.spillable.entry.BlockPool;
import dev.dstl.spillable.entry.SpillSpace;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.pressure.SpillMember;
import dev.dstl.spillable.registry.RegisteredStates;
import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.util.Collection;
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
 * <p>If no disk takes state, or the index has no room left, the rest of the request is dropped with
 * one error; state stays where it is.
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

    /** Of an entry on the heap, beside what it serializes to: links, headers, table. */
    private static final int OVERHEAD_BYTES = 96;

    /** Objects take about this many times the bytes they serialize to. */
    private static final int OBJECT_FACTOR = 2;

    private static final long ASSUMED_SERIALIZED_BYTES = 32;

    private final SpillConfig config;
    private final SpillArbiter arbiter;
    private final RegisteredStates<?> states;
    private final SpillSpace space;
    @Nullable private final MailboxExecutor mailbox;
    private final LongSupplier clockNanos;
    private final SpillCounters counters;
    private final Thread taskThread = Thread.currentThread();
    private final AtomicBoolean mailSent = new AtomicBoolean();

    /** Bytes to spill if positive, to load if negative. Set by the arbiter, worked off here. */
    private volatile long requestedBytes;

    private volatile boolean urgent;
    private volatile long heapBytes;
    private volatile long spilledBytes;
    private volatile double heatPerByte;

    private int keysUntilReport;
    private long nextSliceNanos;
    private long nextCoolDownNanos;
    private long serializedBytes = ASSUMED_SERIALIZED_BYTES;
    private boolean refusalLogged;
    private int restoredEntries;
    private long restoredBytes;
    private boolean restoresToHeap = true;

    /** Made on the task thread. */
    public SpillScheduler(
            SpillConfig config,
            SpillArbiter arbiter,
            RegisteredStates<?> states,
            SpillSpace space,
            @Nullable MailboxExecutor mailbox,
            LongSupplier clockNanos,
            SpillCounters counters) {
        this.config = config;
        this.arbiter = arbiter;
        this.states = states;
        this.space = space;
        this.mailbox = mailbox;
        this.clockNanos = clockNanos;
        this.counters = counters;
        this.nextSliceNanos = clockNanos.getAsLong();
        this.nextCoolDownNanos = nextSliceNanos + COOL_DOWN_NANOS;
        arbiter.join(this);
    }

    // ------------------------------------------------ on the task thread

    @Override
    public void keySelected() {
        if (--keysUntilReport <= 0) {
            keysUntilReport = KEYS_PER_REPORT;
            report();
        }
        if (requestedBytes != 0) {
            workIfDue();
        }
    }

    @Override
    public boolean restoresToHeap(long bytes) throws IOException {
        restoredEntries++;
        restoredBytes += bytes;
        if (restoredEntries >= RESTORED_PER_LOOK || restoredBytes >= RESTORED_BYTES_PER_LOOK) {
            serializedBytes = Math.max(1, restoredBytes / restoredEntries);
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
        if (requestedBytes > 0) {
            workIfDue();
        }
        return restoresToHeap;
    }

    private void workIfDue() {
        long start = clockNanos.getAsLong();
        if (start - nextSliceNanos < 0) {
            return;
        }
        long slice = urgent ? URGENT_SLICE_NANOS : SLICE_NANOS;
        try {
            while (requestedBytes != 0 && clockNanos.getAsLong() - start < slice) {
                if (requestedBytes > 0) {
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
        nextSliceNanos = end + (urgent ? slice / 4 : end - start);
        report();
    }

    private void spillStep(long sliceEnd) throws IOException {
        BlockPool pool = space.open();
        if (!spaceTakesMore(pool)) {
            return;
        }
        ColdestPerByte.Choice choice = ColdestPerByte.toSpill(tables());
        if (choice == null) {
            requestedBytes = 0;
            return;
        }
        StateTable<?, ?, ?> table = choice.table;
        Residency residency = table.residency(choice.position);
        if (residency == Residency.ON_HEAP || residency == Residency.LOADING) {
            table.startSpill(choice.position);
        }
        while (table.residency(choice.position) == Residency.SPILLING
                && requestedBytes > 0
                && clockNanos.getAsLong() - sliceEnd < 0) {
            long before = pool.entryBytes() - pool.deadBytes();
            int moved = table.spill(choice.position, SPILLED_PER_STEP);
            long written = pool.entryBytes() - pool.deadBytes() - before;
            if (moved > 0) {
                serializedBytes = Math.max(1, (serializedBytes * 7 + written / moved) / 8);
                counters.spilled(moved, written);
                done(moved * bytesPerEntry());
            }
        }
        refusalLogged = false;
    }

    /** Drops what is requested if there is no place for it. */
    private boolean spaceTakesMore(BlockPool pool) {
        if (!pool.diskTakesMore()) {
            // The pool has said why.
            drop();
            return false;
        }
        if (!pool.budget().hasRoom()) {
            refuse(
                    "the memory for the index of spilled entries is used up; raise"
                            + " state.backend.spillable.off-heap.size or the TaskManager's managed"
                            + " memory",
                    null);
            return false;
        }
        return true;
    }

    private void loadStep() throws IOException {
        ColdestPerByte.Choice choice = ColdestPerByte.toLoad(tables());
        if (choice == null) {
            requestedBytes = 0;
            return;
        }
        StateTable<?, ?, ?> table = choice.table;
        if (table.residency(choice.position) != Residency.LOADING) {
            table.startLoad(choice.position);
        }
        int moved = table.load(choice.position, LOADED_PER_STEP);
        counters.loaded(moved);
        done(moved * bytesPerEntry());
    }

    /** Takes off what was done, unless another request has come meanwhile. */
    private synchronized void done(long bytes) {
        long requested = requestedBytes;
        if (requested > 0) {
            requestedBytes = Math.max(0, requested - bytes);
        } else if (requested < 0) {
            requestedBytes = Math.min(0, requested + bytes);
        }
    }

    private void drop() {
        requestedBytes = 0;
        counters.refused();
    }

    private void refuse(String reason, @Nullable IOException cause) {
        drop();
        if (!refusalLogged) {
            refusalLogged = true;
            LOG.error("State cannot be spilled and stays on the heap: {}.", reason, cause);
        }
    }

    private long bytesPerEntry() {
        return OVERHEAD_BYTES + OBJECT_FACTOR * serializedBytes;
    }

    private Collection<? extends StateTable<?, ?, ?>> tables() {
        return states.tables();
    }

    private void report() {
        long now = clockNanos.getAsLong();
        boolean coolDown = now - nextCoolDownNanos > 0;
        long onHeap = 0;
        long spilled = 0;
        int groups = 0;
        int spilledGroups = 0;
        double heat = 0;
        for (StateTable<?, ?, ?> table : tables()) {
            for (int i = 0; i < table.groupCount(); i++) {
                onHeap += table.heapEntries(i);
                spilled += table.spilledEntries(i);
                groups++;
                spilledGroups += table.residency(i) == Residency.ON_HEAP ? 0 : 1;
                heat += table.heat(i);
            }
            if (coolDown) {
                table.coolDown();
            }
        }
        if (coolDown) {
            nextCoolDownNanos = now + COOL_DOWN_NANOS;
        }
        heapBytes = onHeap * bytesPerEntry();
        spilledBytes = spilled * bytesPerEntry();
        heatPerByte = heapBytes == 0 ? 0 : heat / heapBytes;
        counters.placed(onHeap, spilled, groups - spilledGroups, spilledGroups, heapBytes);
    }

    @Override
    public void close() {
        arbiter.leave(this);
    }

    // ------------------------------------------------ for the arbiter

    @Override
    public SpillConfig config() {
        return config;
    }

    @Override
    public long heapStateBytes() {
        return heapBytes;
    }

    @Override
    public long spilledStateBytes() {
        return spilledBytes;
    }

    @Override
    public double heatPerByte() {
        return heatPerByte;
    }

    @Override
    public void requestSpill(long bytes, boolean isUrgent) {
        openSpace();
        request(bytes, isUrgent);
    }

    /** Here and not on the task thread: making directories takes tens of milliseconds. */
    private void openSpace() {
        try {
            space.open();
        } catch (IOException e) {
            LOG.debug("The task is about to meet this and says what it means.", e);
        }
    }

    @Override
    public void requestLoad(long bytes) {
        request(-bytes, false);
    }

    private void request(long bytes, boolean isUrgent) {
        synchronized (this) {
            urgent = isUrgent;
            requestedBytes = bytes;
        }
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
        if (requestedBytes != 0 && Thread.currentThread() == taskThread) {
            workIfDue();
            sendMail();
        }
    }

    @Override
    public String toString() {
        return "a backend with " + heapBytes + " bytes of state on the heap";
    }
}
