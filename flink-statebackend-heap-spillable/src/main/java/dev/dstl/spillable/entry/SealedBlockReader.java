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

package dev.dstl.spillable.entry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the task thread comes by single entries in chunk files: through the mapping as long as the
 * page cache holds them, and with a read call per page when it does not. One backend's; task thread
 * only.
 *
 * <p>A mapped page that is not in the page cache makes the kernel read around it, as far as the
 * read-ahead of the device goes, and that pushes other pages out: with files of twice the page
 * cache and a read-ahead of 8 MiB 2,400 accesses per second were left of 900,000. A read call takes
 * the page it asks for. While everything is in the page cache it costs more than a mapped access.
 *
 * <p>Which one it is, is told by the time that reads take: a few of the mapped ones, all of the
 * others. Going back takes twice as many fast reads each time.
 */
final class SealedBlockReader {

    private static final Logger LOG = LoggerFactory.getLogger(SealedBlockReader.class);

    /** Neither a cache miss nor a read call takes that long, and no disk is faster. */
    static final long SLOW_NANOS = 20_000;

    /** One mapped read of so many is timed. */
    private static final int SAMPLE_EVERY = 32;

    private static final int SAMPLES_LOOKED_AT = 1024;
    private static final int SLOW_SAMPLES = 2;
    private static final int FIRST_FAST_READS = 1 << 15;
    private static final int MOST_FAST_READS = 1 << 22;

    /** Of so many reads one may be slow, for whatever reason, and they still count as fast. */
    private static final int FAST_READS_PER_SLOW = 4096;

    private static final int PAGE_BYTES = 4096;

    /** Hash and two varints. */
    private static final int MOST_HEADER_BYTES = EntryFormat.HASH_BYTES + 10;

    private enum Way {
        MAPPED,
        BY_PAGE;

        Way other() {
            return this == MAPPED ? BY_PAGE : MAPPED;
        }
    }

    /** A copy of bytes {@code [from, until)} of a block. */
    private static final class Window {

        private final ByteBuffer buffer =
                ByteBuffer.allocateDirect(EntryFormat.BLOCK_BYTES + PAGE_BYTES);
        private final MemorySegment segment = MemorySegmentFactory.wrapOffHeapMemory(buffer);
        @Nullable private Block block;
        private int from;
        private int until;

        void load(Block newBlock, int newFrom, int newUntil) {
            block = null;
            buffer.clear().limit(newUntil - newFrom);
            try {
                newBlock.read(buffer, newFrom);
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot read spilled state", e);
            }
            block = newBlock;
            from = newFrom;
            until = newUntil;
        }

        boolean has(Block wanted, int wantedFrom, int wantedUntil) {
            return block == wanted && wantedFrom >= from && wantedUntil <= until;
        }
    }

    private final LongSupplier clockNanos;
    private Way way = Way.MAPPED;
    private int readsToSample = SAMPLE_EVERY;
    private int seen;
    private int slow;
    private int fastReadsWanted = FIRST_FAST_READS / 2;
    private long pageReads;

    @Nullable private Window pages;
    @Nullable private Window compacted;
    private MemorySegment segment;

    SealedBlockReader(LongSupplier clockNanos) {
        this.clockNanos = clockNanos;
    }

    /**
     * Makes the head of an entry readable.
     *
     * @param offset of the entry in a sealed block
     * @return where it starts in {@link #segment()}, until the next call
     */
    int locate(Block block, int offset) {
        if (way == Way.MAPPED || block.used > EntryFormat.BLOCK_BYTES) {
            segment = block.segment;
            int position = block.base + offset;
            if (--readsToSample == 0) {
                sample(position);
            }
            return position;
        }
        return located(block, offset, Math.min(block.used, offset + MOST_HEADER_BYTES));
    }

    /** Makes all {@code bytes} of the entry readable that was located last; it does not move. */
    void complete(Block block, int offset, int bytes) {
        if (segment != block.segment
                && segment != compacted.segment
                && !pages.has(block, offset, offset + bytes)) {
            loadPages(block, pages.from, offset + bytes);
        }
    }

    private int located(Block block, int offset, int until) {
        if (compacted.has(block, offset, until)) {
            segment = compacted.segment;
            return offset;
        }
        segment = pages.segment;
        if (!pages.has(block, offset, until)) {
            loadPages(block, offset & -PAGE_BYTES, until);
        }
        return offset - pages.from;
    }

    private void loadPages(Block block, int from, int until) {
        long start = clockNanos.getAsLong();
        pages.load(block, from, Math.min(block.used, (until + PAGE_BYTES - 1) & -PAGE_BYTES));
        pageReads++;
        look(clockNanos.getAsLong() - start);
    }

    MemorySegment segment() {
        return segment;
    }

    /** Prepares for reading a sealed block from its start to its end. */
    void startCompaction(Block block) {
        if (way == Way.BY_PAGE && block.used <= EntryFormat.BLOCK_BYTES) {
            compacted.load(block, 0, block.used);
        }
    }

    /** Pages read with a call of their own so far. */
    long pageReads() {
        return pageReads;
    }

    private void sample(int position) {
        long start = clockNanos.getAsLong();
        int someBit = segment.get(position) & 1;
        // Or the compiler reads where the bit is used, after the clock was looked at.
        VarHandle.acquireFence();
        boolean isSlow = clockNanos.getAsLong() - start > SLOW_NANOS;
        // Uses what it read, which cannot be left out then, and is in step with no job's pattern.
        readsToSample = SAMPLE_EVERY + someBit;
        if (isSlow && ++slow >= SLOW_SAMPLES) {
            way = way.other();
            startCounting();
            fastReadsWanted = Math.min(MOST_FAST_READS, fastReadsWanted << 1);
            if (pages == null) {
                pages = new Window();
                compacted = new Window();
            }
            LOG.info(
                    "The page cache no longer holds the chunk files of spilled state: reading single"
                            + " pages from now on. More memory outside of the JVM makes this faster.");
        } else if (++seen == SAMPLES_LOOKED_AT) {
            startCounting();
        }
    }

    private void look(long nanos) {
        if (nanos > SLOW_NANOS) {
            slow++;
        }
        if (++seen >= fastReadsWanted) {
            if (slow <= seen / FAST_READS_PER_SLOW) {
                way = way.other();
                LOG.info("The page cache holds the chunk files of spilled state again.");
            }
            startCounting();
        }
    }

    private void startCounting() {
        seen = 0;
        slow = 0;
    }
}
