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

package dev.dstl.changelog.sorting;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.ReplayMemory;
import dev.dstl.log.execution.FailureReport;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.ExceptionUtils;

/**
 * Reads the records of a changelog without obsolete ones, in the {@link ReplayOrder} of the
 * delegate. The resulting state is the same, and applying it is faster. The changelog is read and
 * sorted on other threads, from {@link #start} on, while the delegate loads its base.
 *
 * <pre>
 *   reader         run 1: registrations | key groups 0 to 15 | 16 to 31 | ...      run 2: ...
 *   sorters                               sort                 sort
 *   task thread    registrations, then part after part
 * </pre>
 *
 * <p>A run ends at the end of the changelog; at the memory limit, if few of its records are
 * obsolete, and then the next run is read while the second half of this one is applied; or where a
 * state is registered again with other serializers, which apply to the records after it. From the
 * first record on for which obsolescence is unknown, records keep their order.
 *
 * <p>{@link #next} is for one thread. {@link #close} may be called by any, also while another one
 * reads.
 */
public final class SortingCursor implements RecordCursor {

    private static final int MAX_PARTS = 8;

    /** Memory of a sorted record's number. */
    private static final int SORTED_BYTES = Integer.BYTES;

    /** Memory per record of a part that is being sorted; about two are at a time. */
    private static final int UNSORTED_BYTES = 2 * Long.BYTES;

    /** A run goes on if dropping obsolete records frees one part in so many of its memory. */
    private static final int WORTHWHILE_FRACTION = 4;

    /** A power of two. */
    private static final int COUNTED_AT_ONCE = 1024;

    private final RecordCursor log;
    private final KeyGroupRange wanted;
    private final ReplayOrder order;
    private final Predicate<byte[]> keepsOrder;
    private final ReplayMemory memory;
    private final Sorters sorters;
    private final OrderedParts parts = new OrderedParts();

    // of the reading thread

    private final Map<Integer, byte[]> registrations = new HashMap<>();
    private final BitSet registered = new BitSet();

    /** Registered states whose records are applied in the order in which they were written. */
    private final BitSet asWritten = new BitSet();

    /** One per part, and behind them one for the records that keep their order. */
    private final RecordBuffer[] buffers;

    private final int keptPart;
    private final int sortingBytesPerRecord;
    private RecordBuffer asTheyCame = new RecordBuffer(0);
    private boolean unsortable;
    private SortRun run;

    /** The run before, if it may still hold memory. */
    @Nullable private SortRun previous;

    private final Runnable failing = this::fail;
    @Nullable private Throwable failure;

    // of the applying thread

    @Nullable private volatile OrderedRecords current;
    private boolean ended;

    private volatile long recordsRead;
    private volatile long bytesRead;

    /** Set by whoever is first: the reading thread, or {@link #close} if reading has not begun. */
    @GuardedBy("this")
    private boolean begun;

    /** Null unless a thread is reading. */
    @GuardedBy("this")
    @Nullable
    private Thread reading;

    /**
     * Creates a cursor.
     *
     * @param log owned by this cursor
     * @param wanted records of other key groups are dropped
     * @param order in which records are returned
     * @param keepsOrder whether the records of a state are all returned as they were written, by
     *     the payload of its registration
     * @param memory reserved for records that are read and not yet applied
     * @param sorters run the sorting; at least one of their threads must not be the reader's
     */
    public SortingCursor(
            RecordCursor log,
            KeyGroupRange wanted,
            ReplayOrder order,
            Predicate<byte[]> keepsOrder,
            ReplayMemory memory,
            Executor sorters) {
        this.log = log;
        this.wanted = wanted;
        this.order = order;
        this.keepsOrder = keepsOrder;
        this.memory = memory;
        this.sorters = new Sorters(sorters);
        this.keptPart = Math.min(MAX_PARTS, wanted.getNumberOfKeyGroups());
        this.buffers = new RecordBuffer[keptPart + 1];
        this.sortingBytesPerRecord =
                SORTED_BYTES + UNSORTED_BYTES * Math.min(2, keptPart) / keptPart;
        this.run = new SortRun(memory);
    }

    /**
     * Starts reading. Called once.
     *
     * @param reader runs the reading until the end of the changelog
     */
    public void start(Executor reader) {
        reader.execute(this::read);
    }

    @Override
    public boolean next(LogRecord record) throws IOException {
        OrderedRecords records = current;
        while (records == null || !records.next(record)) {
            releaseCurrent();
            if (ended) {
                return false;
            }
            records = parts.take();
            current = records;
            ended = records == null;
        }
        return true;
    }

    /**
     * Returns the number of records read so far, including obsolete and unwanted ones. Thread-safe.
     */
    public long recordsRead() {
        return recordsRead;
    }

    /** Returns the size of all records, obsolete ones included, once all are read. Thread-safe. */
    public long bytesRead() {
        return bytesRead;
    }

    private void releaseCurrent() {
        OrderedRecords applied = current;
        if (applied != null) {
            current = null;
            applied.release();
        }
    }

    private void read() {
        if (!beginReading()) {
            return;
        }
        try {
            try {
                readAll();
            } finally {
                endReading();
                log.close();
            }
        } catch (Throwable t) {
            run.release(0);
            failure = t;
            FailureReport.send(failing);
        }
    }

    private void fail() {
        parts.put(CompletableFuture.failedFuture(failure));
    }

    private void readAll() throws IOException {
        LogRecord record = new LogRecord();
        long count = 0;
        long bytes = 0;
        while (!parts.isClosed() && log.next(record)) {
            bytes += record.length();
            add(record);
            if ((++count & COUNTED_AT_ONCE - 1) == 0) {
                recordsRead = count;
            }
        }
        recordsRead = count;
        bytesRead = bytes;
        if (parts.isClosed()) {
            throw OrderedParts.cancelled();
        }
        endRun();
        parts.put(CompletableFuture.completedFuture(null));
    }

    private synchronized boolean beginReading() {
        if (begun) {
            return false;
        }
        begun = true;
        reading = Thread.currentThread();
        return true;
    }

    private synchronized void endReading() {
        reading = null;
        if (parts.isClosed()) {
            // An interrupt meant for this cursor must not reach what the thread does next.
            boolean unused = Thread.interrupted();
        }
    }

    private void add(LogRecord record) throws InterruptedIOException {
        if (record.kind() == RecordKind.META && !unsortable) {
            register(record);
            return;
        }
        if (!unsortable && !isSortable(record)) {
            endRun();
            unsortable = true;
        }
        if (unsortable) {
            addTo(asTheyCame, record);
        } else if (wanted.contains(record.keyGroup())) {
            int part =
                    asWritten.get(record.stateId())
                            ? keptPart
                            : (record.keyGroup() - wanted.getStartKeyGroup())
                                    * keptPart
                                    / wanted.getNumberOfKeyGroups();
            if (buffers[part] == null) {
                buffers[part] = new RecordBuffer(sortingBytesPerRecord);
            }
            addTo(buffers[part], record);
        }
    }

    /** Records of unregistered states are left to the replay, which rejects them. */
    private boolean isSortable(LogRecord record) {
        return record.kind() != RecordKind.OPAQUE
                && record.stateId() >= 0
                && registered.get(record.stateId());
    }

    private void register(LogRecord record) throws InterruptedIOException {
        int state = record.stateId();
        int payload = record.payloadOffset();
        byte[] registration =
                Arrays.copyOfRange(record.buffer(), payload, payload + record.payloadLength());
        byte[] known = registrations.put(state, registration);
        if (known != null && Arrays.equals(known, registration)) {
            return;
        }
        if (known != null) {
            endRun();
        }
        // Ids are consecutive, one per registration; no job comes near this limit.
        if (state >= 0 && state <= RecordBuffer.MAX_STATE_ID) {
            registered.set(state);
            asWritten.set(state, keepsOrder.test(registration));
        }
        addTo(asTheyCame, record);
    }

    private void addTo(RecordBuffer buffer, LogRecord record) throws InterruptedIOException {
        long before = buffer.memoryBytes();
        buffer.add(record);
        long grown = buffer.memoryBytes() - before;
        boolean isGranted = grown == 0 || run.grow(grown);
        if (buffer.isFull() || !(isGranted || canGoOn())) {
            previous = endRun();
            if (!isGranted) {
                awaitMemory(previous::awaitHalf);
            }
        }
    }

    /** Makes room for more records in the run, by whatever helps, if anything does. */
    private boolean canGoOn() throws InterruptedIOException {
        if (previous != null) {
            awaitMemory(previous::awaitAll);
            previous = null;
            if (run.grow(0)) {
                return true;
            }
        }
        return dropObsolete();
    }

    /**
     * Drops obsolete records of the run, so that it can go on.
     *
     * @return false if this freed so little that the run should end
     */
    private boolean dropObsolete() throws InterruptedIOException {
        long before = bufferedBytes();
        List<CompletableFuture<Void>> drops = new ArrayList<>();
        for (RecordBuffer buffer : buffers) {
            if (buffer != null) {
                drops.add(
                        sorters.run(
                                () -> {
                                    buffer.retain(SortedSurvivors.numbersIn(buffer));
                                    return null;
                                }));
            }
        }
        for (CompletableFuture<Void> drop : drops) {
            awaitDrop(drop);
        }
        long freed = before - bufferedBytes();
        run.shrink(freed);
        return freed > 0 && freed >= before / WORTHWHILE_FRACTION;
    }

    private static void awaitDrop(CompletableFuture<Void> drop) throws InterruptedIOException {
        try {
            drop.get();
        } catch (InterruptedException e) {
            throw OrderedParts.interrupted();
        } catch (ExecutionException e) {
            ExceptionUtils.rethrow(e.getCause());
        }
    }

    private long bufferedBytes() {
        long bytes = 0;
        for (RecordBuffer buffer : buffers) {
            bytes += buffer == null ? 0 : buffer.memoryBytes();
        }
        return bytes;
    }

    /** Waits for memory, without which reading cannot continue. */
    private static void awaitMemory(Wait wait) throws InterruptedIOException {
        try {
            wait.run();
        } catch (InterruptedException e) {
            throw OrderedParts.interrupted();
        }
    }

    /** Waits for something. */
    private interface Wait {
        void run() throws InterruptedException;
    }

    /**
     * Hands over what was read, first registrations, then the parts to sort, and starts the next
     * run.
     *
     * @return the ended run
     */
    private SortRun endRun() {
        SortRun ended = run;
        handOver(ended);
        run = new SortRun(memory);
        ended.release(0);
        return ended;
    }

    private void handOver(SortRun ended) {
        if (asTheyCame.count() > 0) {
            ended.addPart(asTheyCame.memoryBytes());
            parts.put(
                    CompletableFuture.completedFuture(
                            OrderedRecords.asTheyCame(asTheyCame, ended)));
            asTheyCame = new RecordBuffer(0);
        }
        for (int i = 0; i < buffers.length; i++) {
            RecordBuffer buffer = buffers[i];
            if (buffer != null) {
                buffers[i] = null;
                ended.addPart(buffer.memoryBytes());
                parts.put(sort(buffer, i == keptPart ? ReplayOrder.AS_WRITTEN : order, ended));
            }
        }
    }

    private CompletableFuture<OrderedRecords> sort(
            RecordBuffer buffer, ReplayOrder by, SortRun of) {
        return sorters.run(
                () -> {
                    try {
                        return OrderedRecords.of(buffer, by, of);
                    } catch (Throwable t) {
                        of.release(buffer.memoryBytes());
                        throw t;
                    }
                });
    }

    /**
     * Closes the cursor. Work on other threads ends soon, on its own: the log is not thread-safe,
     * so the reading thread is interrupted and closes it.
     */
    @Override
    public void close() throws IOException {
        parts.close();
        releaseCurrent();
        boolean neverRead;
        synchronized (this) {
            neverRead = !begun;
            begun = true;
            if (reading != null) {
                reading.interrupt();
            }
        }
        if (neverRead) {
            log.close();
        }
    }
}
