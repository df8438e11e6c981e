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

package dev.dstl.log.writer;

import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.execution.FailureReport;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * A checkpoint that waits for batches: for their segments, or only until they are encoded to travel
 * in its handle. Guarded by the {@link LogTail} it belongs to, except for the future, which is
 * completed without any lock held.
 *
 * <p>A batch chosen to travel in the handle does so even if its segment becomes durable meanwhile:
 * other changelogs rely on this checkpoint not naming the segment.
 */
final class PendingPersist {

    private static final ErrorLog LOG = new ErrorLog(PendingPersist.class);

    private final List<TailBatch> batches;

    /** Batches that travel inline, by index. */
    private final BitSet omitted = new BitSet();

    private final boolean inline;
    private final long checkpointId;
    private final UnreferencedBatches unreferenced;
    private final CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> future =
            new CompletableFuture<>();

    /** Created in advance, since it must run even if memory is out. */
    private final Runnable completion = this::complete;

    private int missing;
    @Nullable private SnapshotResult<ChangelogStateHandleStreamImpl> result;
    @Nullable private Delivery delivery;
    @Nullable private Throwable failure;

    /**
     * Creates a persist.
     *
     * @param batches in order, without gaps
     * @param inline whether batches that are not durable yet travel inline
     * @param unreferenced empty; receives the batches that nobody needs once the persist has ended
     */
    PendingPersist(
            List<TailBatch> batches,
            boolean inline,
            long checkpointId,
            UnreferencedBatches unreferenced) {
        this.batches = batches;
        this.inline = inline;
        this.checkpointId = checkpointId;
        this.unreferenced = unreferenced;
        unreferenced.expect(batches.size());
        for (int i = 0; i < batches.size(); i++) {
            TailBatch batch = batches.get(i);
            batch.retain();
            if (inline && !batch.isDurable()) {
                omitted.set(i);
                batch.omit();
            }
            if (!batch.hasPosition(omitted.get(i))) {
                missing++;
            }
        }
    }

    /** Returns the positions of all batches for the handle. */
    List<BatchPosition> positions() {
        List<BatchPosition> positions = new ArrayList<>(batches.size());
        for (int i = 0; i < batches.size(); i++) {
            positions.add(batches.get(i).position(omitted.get(i)));
        }
        return positions;
    }

    /**
     * Hands all batches over to the JobManager, with the handle of these positions.
     *
     * @return bytes of the frames that no earlier handle contained
     */
    long handOver(List<BatchPosition> positions) {
        long newBytes = 0;
        for (int i = 0; i < positions.size(); i++) {
            BatchPosition position = positions.get(i);
            boolean isNew = position.isInline() || batches.get(i).handOver(checkpointId);
            newBytes += isNew ? position.frameBytes() : 0;
        }
        return newBytes;
    }

    CompletableFuture<SnapshotResult<ChangelogStateHandleStreamImpl>> future() {
        return future;
    }

    /** Runs an action, without a lock held, if the future fails or is cancelled, or has been. */
    void whenCancelled(Consumer<Throwable> action) {
        CompletableFuture<?> unused =
                future.whenComplete(
                        (result, failure) -> {
                            if (failure != null) {
                                action.accept(failure);
                            }
                        });
    }

    /** Sets the handle that {@link #end} delivers, or drops if nobody waits for it any more. */
    void deliver(
            SnapshotResult<ChangelogStateHandleStreamImpl> assembled, Delivery assembledDelivery) {
        result = assembled;
        delivery = assembledDelivery;
    }

    /** Sets why the handle could not be made; {@link #end} drops what was handed over for it. */
    void cannotDeliver(Throwable cause, @Nullable Delivery handedOver) {
        failure = cause;
        delivery = handedOver;
    }

    /** Fails the future. Called as {@link #end}, and instead of it. */
    void fail(Throwable cause) {
        failure = cause;
        end();
    }

    /**
     * Completes the future, without a lock held, after {@link #release}. Waits for memory if there
     * is none. An error concerns no other persist.
     */
    void end() {
        try {
            FailureReport.send(completion);
            if (delivery != null && future.isCompletedExceptionally()) {
                delivery.drop();
            }
        } catch (Throwable t) {
            LOG.error("A persist has ended only in part; this is a defect, please report it.", t);
        } finally {
            unreferenced.run();
        }
    }

    private void complete() {
        boolean unused =
                failure == null ? future.complete(result) : future.completeExceptionally(failure);
    }

    boolean isInline() {
        return inline;
    }

    boolean isComplete() {
        return missing == 0;
    }

    /**
     * Returns whether the persist waits for a batch.
     *
     * @param encoded true for its encoding, false for its segment
     */
    boolean waitsFor(TailBatch batch, boolean encoded) {
        int place = placeOf(batch);
        return place >= 0 && omitted.get(place) == encoded && !batch.hasPosition(encoded);
    }

    private int placeOf(TailBatch batch) {
        int low = 0;
        int high = batches.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            long sequence = batches.get(middle).sequence();
            if (sequence == batch.sequence()) {
                return batches.get(middle) == batch ? middle : -1;
            }
            if (sequence < batch.sequence()) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    /** Reports that a batch for which the persist waits has a position now. */
    void batchArrived() {
        missing--;
    }

    /** Drops the references to the batches, once nothing waits for them. Called once. */
    void release() {
        for (int i = 0; i < batches.size(); i++) {
            if (omitted.get(i)) {
                batches.get(i).omissionEnded();
            }
            unreferenced.add(batches.get(i));
        }
    }
}
