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

package dev.dstl.spillable.partition;

import dev.dstl.spillable.chunk.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

/**
 * A copy of some pages of a partition, read with a call past the mapping. Used by one thread.
 *
 * <p>A mapped page that is not in the page cache makes the kernel read around it, as far as the
 * read-ahead of the device goes, and that pushes other pages out. A call takes the pages it asks
 * for. What is longer than that read-ahead is taken from the mapping all the same. Either way the
 * checksums are compared each time: what is read again may come from the disk and be damaged by
 * now.
 */
public final class PageWindow {

    private static final int FIRST_BYTES = 4 * PartitionFormat.PAGE_BYTES;

    /** Of what is read with a call; longer than the kernel reads around a page. */
    private static final int MOST_BYTES = 1 << 20;

    private final CRC32C crc = new CRC32C();
    private ByteBuffer buffer;
    private MemorySegment bufferSegment;

    /** The buffer's, or the mapping. */
    private MemorySegment segment;

    /** Where in the segment the window starts. */
    private int start;

    @Nullable private Extent extent;
    private int from;
    private int until;
    private long reads;

    /** An empty window. */
    public PageWindow() {
        allocate(FIRST_BYTES);
    }

    private void allocate(int bytes) {
        buffer = ByteBuffer.allocateDirect(bytes);
        bufferSegment = MemorySegmentFactory.wrapOffHeapMemory(buffer);
        segment = bufferSegment;
    }

    /** Memory of the window; another one when other bytes are located. */
    public MemorySegment segment() {
        return segment;
    }

    /** Calls made so far. */
    public long reads() {
        return reads;
    }

    /** Forgets what it has: the extent may become another's. */
    public void forget() {
        extent = null;
    }

    /**
     * Makes bytes of a partition readable.
     *
     * @return where in {@link #segment()} the first of them is, until the next call
     * @throws IOException if the file cannot be read
     * @throws DamagedPartitionException if a page that has to be read is damaged
     */
    int locate(SealedPartition wanted, int wantedFrom, int wantedUntil) throws IOException {
        if (extent != wanted.extent() || wantedFrom < from || wantedUntil > until) {
            load(wanted, wantedFrom, wantedUntil);
        }
        return wantedFrom - from + start;
    }

    private void load(SealedPartition wanted, int wantedFrom, int wantedUntil) throws IOException {
        Extent itsExtent = wanted.extent();
        int fromPage = wantedFrom >>> PartitionFormat.PAGE_SHIFT;
        int untilPage = PartitionFormat.pages(wantedUntil);
        int newFrom = fromPage << PartitionFormat.PAGE_SHIFT;
        int newUntil =
                (int) Math.min(itsExtent.length(), (long) untilPage << PartitionFormat.PAGE_SHIFT);
        // Nothing of what turns out to be damaged can be located.
        extent = null;
        if (newUntil - newFrom > MOST_BYTES) {
            wanted.compareChecksums(fromPage, untilPage, crc);
            segment = itsExtent.segment();
            start = itsExtent.offset() + newFrom;
        } else {
            read(itsExtent, newFrom, newUntil - newFrom);
            wanted.compareChecksums(buffer, fromPage, untilPage, crc);
            segment = bufferSegment;
            start = 0;
        }
        extent = itsExtent;
        from = newFrom;
        until = newUntil;
    }

    private void read(Extent wanted, int wantedFrom, int bytes) throws IOException {
        if (bytes > buffer.capacity()) {
            allocate(2 * bytes);
        }
        buffer.clear().limit(bytes);
        wanted.read(buffer, wantedFrom);
        reads++;
    }
}
