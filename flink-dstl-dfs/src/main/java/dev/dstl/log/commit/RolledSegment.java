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

package dev.dstl.log.commit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.local.LocalCopies;
import dev.dstl.log.local.LocalCopy;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.ownership.OwnedSegment;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.RecentSegment;
import dev.dstl.log.segment.RecentSegments;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.upload.InFlightBudget;
import dev.dstl.log.upload.SegmentSource;
import dev.dstl.log.upload.SegmentUpload;
import dev.dstl.log.upload.SegmentUploader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** The batches that share a segment, from the moment it is rolled. Thread-safe. */
final class RolledSegment implements SegmentSource {

    private static final ErrorLog LOG = new ErrorLog(RolledSegment.class);

    private final List<SealedBatch> batches;
    private final SegmentListener listener;
    private final SegmentRegistry registry;
    private final LocalCopies localCopies;
    private final InFlightBudget budget;
    private final OwnedSegment owner;
    private final SegmentUpload upload;
    @Nullable private final LocalCopy localCopy;
    @Nullable private final RecentSegment recent;

    /** Guarded by the lock of {@link GroupCommit}. */
    private boolean durable;

    /** Bytes that the batches count as in flight until {@link #settle()}. */
    @GuardedBy("this")
    private long inFlightBytes;

    @GuardedBy("this")
    private boolean encoding;

    @GuardedBy("this")
    private boolean settled;

    RolledSegment(
            List<SealedBatch> batches,
            SegmentListener listener,
            SegmentRegistry registry,
            SegmentUploader uploader,
            LocalCopies localCopies,
            RecentSegments recentSegments,
            InFlightBudget budget) {
        this.batches = batches;
        this.listener = listener;
        this.registry = registry;
        this.localCopies = localCopies;
        this.budget = budget;
        this.owner = registry.open(batches.size());
        this.upload = uploader.upload(this);
        this.localCopy = localCopies.open(batches.size());
        this.recent = recentSegments.open();
        this.inFlightBytes = batches.stream().mapToLong(SealedBatch::reservedBytes).sum();
    }

    List<SealedBatch> batches() {
        return batches;
    }

    OwnedSegment owner() {
        return owner;
    }

    SegmentUpload upload() {
        return upload;
    }

    /** Returns whether checkpoints may have been given the segment. */
    boolean isDurable() {
        return durable;
    }

    void becameDurable() {
        durable = true;
    }

    @Override
    public EncodedSegment encode(SegmentEncoder encoder) {
        List<LogBatch> encoded = new ArrayList<>(batches.size());
        for (SealedBatch batch : batches) {
            encoded.add(batch.batch());
        }
        EncodedSegment segment = encode(encoder, encoded);
        // The records are released from here on, so nothing may fail the encoding any more.
        for (int i = 0; i < batches.size(); i++) {
            releaseRecords(batches.get(i), segment.frameLength(i));
        }
        copy(segment);
        return segment;
    }

    private static void releaseRecords(SealedBatch batch, long frameBytes) {
        try {
            batch.batch().release();
            batch.listener().encoded(frameBytes);
        } catch (Throwable t) {
            LOG.error(
                    "The writer of {} failed; this is a defect, please report it.",
                    batch.batch(),
                    t);
        }
    }

    private void copy(EncodedSegment segment) {
        if (localCopy == null) {
            return;
        }
        try {
            localCopies.write(localCopy, segment);
        } catch (Throwable t) {
            LOG.error("A segment is not copied; this is a defect, please report it.", t);
        }
    }

    private EncodedSegment encode(SegmentEncoder encoder, List<LogBatch> records) {
        synchronized (this) {
            encoding = true;
        }
        long workingBytes = SegmentEncoder.workingBytes(records);
        budget.memory().reserve(MemoryUse.ENCODING, workingBytes);
        try {
            return encoder.encode(records);
        } finally {
            budget.memory().release(MemoryUse.ENCODING, workingBytes);
            synchronized (this) {
                encoding = false;
            }
            releaseIfSettled();
        }
    }

    /**
     * Stops counting the batches as in flight, because the segment is durable or no longer needed.
     * Takes effect after a running encoding, which still uses the records.
     */
    void settle() {
        synchronized (this) {
            settled = true;
        }
        releaseIfSettled();
    }

    private void releaseIfSettled() {
        long bytes;
        synchronized (this) {
            // Records stay in memory during encoding.
            bytes = settled && !encoding ? inFlightBytes : 0;
            inFlightBytes -= bytes;
        }
        if (bytes > 0) {
            budget.release(bytes);
        }
    }

    /** Abandons the upload and the copies, because no batch is needed any more. */
    void abandon() {
        upload.abandon();
        if (recent != null) {
            recent.release();
        }
        settle();
    }

    /** Releases one batch's reference to the local copy. */
    void releaseCopy() {
        if (localCopy != null) {
            localCopy.release();
        }
    }

    @Override
    public void discard() {
        batches.forEach(batch -> batch.batch().release());
    }

    @Override
    public Runnable durableAs(Path file, EncodedSegment segment) {
        List<BatchPosition> positions = positions(file, segment);
        return () -> durableAs(file, segment, positions);
    }

    private void durableAs(Path file, EncodedSegment segment, List<BatchPosition> positions) {
        registry.durable(owner, file);
        listener.segmentDurable(this);
        keep(segment);
        try {
            settle();
        } finally {
            for (int i = 0; i < batches.size(); i++) {
                becameDurable(batches.get(i), positions.get(i));
            }
        }
    }

    private List<BatchPosition> positions(Path file, EncodedSegment segment) {
        List<BatchPosition> positions = new ArrayList<>(batches.size());
        long length = segment.length();
        for (int i = 0; i < batches.size(); i++) {
            positions.add(
                    new BatchPosition(
                            owner,
                            () -> new FileStateHandle(file, length),
                            localCopy,
                            recent,
                            segment.frameOffset(i),
                            segment.frameLength(i)));
        }
        return positions;
    }

    private void becameDurable(SealedBatch batch, BatchPosition position) {
        try {
            listener.durable(batch, position);
        } catch (Throwable t) {
            LOG.error(
                    "The writer of {} failed; this is a defect, please report it.",
                    batch.batch(),
                    t);
        }
    }

    private void keep(EncodedSegment segment) {
        if (recent == null) {
            return;
        }
        try {
            recent.durable(segment);
        } catch (Throwable t) {
            LOG.error("A segment is not kept in memory; this is a defect, please report it.", t);
        }
    }

    @Override
    public void suspended(IOException cause) {
        listener.suspended(batches, cause);
    }
}
