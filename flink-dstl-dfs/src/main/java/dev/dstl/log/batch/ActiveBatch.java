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

package dev.dstl.log.batch;

import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import java.util.Arrays;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The records appended since the last sequence number of one log. Used by the task thread only.
 * Appending occasionally takes a page from the pool and allocates nothing per record.
 *
 * <p>Records lie behind each other as {@link PagedRecord} draws them, and may straddle pages. The
 * pages are this object's until {@link #seal} hands them over or {@link #discard} gives them back.
 */
public final class ActiveBatch {

    /** One more than the highest key group, the highest parallelism that Flink allows. */
    public static final int KEY_GROUP_LIMIT = 1 << 15;

    private static final int INITIAL_PAGES = 16;
    private static final int SMALL_BYTES = PagePool.PAGE_BYTES / 2;

    private final UUID logId;
    private final KeyGroupRange keyGroupRange;
    private final PagePool pool;
    private final JobMemory memory;
    private final byte[] scratch = new byte[PagedRecord.MAX_PREAMBLE_BYTES];

    private byte[][] pages = new byte[INITIAL_PAGES][];
    private int pageCount;

    /** Where the next byte goes in the last page; full when there is no page yet. */
    private int offset = PagePool.PAGE_BYTES;

    private int recordCount;

    /** As it was when the last page was added. */
    private boolean memoryTight;

    /**
     * A batch whose memory somebody else accounts for.
     *
     * @param logId the writer's identity, one per writer incarnation
     * @param keyGroupRange the key groups of the writer's subtask
     * @param pool gives the pages and takes them back
     */
    public ActiveBatch(UUID logId, KeyGroupRange keyGroupRange, PagePool pool) {
        this(logId, keyGroupRange, pool, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * A batch that counts in the memory of its job, except for its first page: every log has that,
     * however often its batch is sealed.
     *
     * @param logId the writer's identity, one per writer incarnation
     * @param keyGroupRange the key groups of the writer's subtask
     * @param pool gives the pages and takes them back
     */
    public ActiveBatch(UUID logId, KeyGroupRange keyGroupRange, PagePool pool, JobMemory memory) {
        this.logId = logId;
        this.keyGroupRange = keyGroupRange;
        this.pool = pool;
        this.memory = memory;
    }

    /**
     * Copies a record to the end.
     *
     * @param kind what the record does
     * @param keyGroup the record key's key group, -1 for a record of no key group; not checked
     *     against the owner's range, since another state backend may number its records otherwise
     * @param stateId not negative
     * @param bytes record key followed by payload; stays the caller's
     * @param keyPrefixLength how many bytes of the record key are key and namespace; all of them
     *     with {@link RecordKind#DELETE_PREFIX}
     * @param keyLength bytes of the record key
     * @param length bytes of record key and payload together
     * @throws IllegalArgumentException if the numbers contradict each other; nothing is appended
     */
    public void append(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length) {
        check(kind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
        int recordLength = RecordFormat.headerLength(stateId, keyPrefixLength, keyLength) + length;
        byte[] target = scratch;
        int start = 0;
        boolean fits = offset <= PagePool.PAGE_BYTES - PagedRecord.MAX_PREAMBLE_BYTES;
        if (fits) {
            target = pages[pageCount - 1];
            start = offset;
        }
        int end = RecordFormat.writeVarint(target, start, keyGroup + 1);
        end = RecordFormat.writeVarint(target, end, recordLength);
        end = RecordFormat.writeHeader(target, end, kind, stateId, keyPrefixLength, keyLength);
        if (fits) {
            offset = end;
        } else {
            copy(scratch, end);
        }
        copy(bytes, length);
        recordCount++;
    }

    private static void check(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length) {
        boolean lengthsFit =
                0 <= keyPrefixLength
                        && keyPrefixLength <= keyLength
                        && keyLength <= length
                        && length <= bytes.length
                        && length <= Integer.MAX_VALUE - PagedRecord.MAX_PREAMBLE_BYTES;
        boolean wholePrefix = kind != RecordKind.DELETE_PREFIX || keyPrefixLength == keyLength;
        if (!lengthsFit
                || !wholePrefix
                || stateId < 0
                || keyGroup < -1
                || keyGroup >= KEY_GROUP_LIMIT) {
            throw new IllegalArgumentException(
                    String.format(
                            "Not a record: %s, key group %d, state id %d, key prefix %d,"
                                    + " record key %d, length %d of %d bytes",
                            kind,
                            keyGroup,
                            stateId,
                            keyPrefixLength,
                            keyLength,
                            length,
                            bytes.length));
        }
    }

    private void copy(byte[] source, int count) {
        int from = 0;
        while (from < count) {
            if (offset == PagePool.PAGE_BYTES) {
                addPage();
            }
            int chunk = Math.min(count - from, PagePool.PAGE_BYTES - offset);
            System.arraycopy(source, from, pages[pageCount - 1], offset, chunk);
            from += chunk;
            offset += chunk;
        }
    }

    private void addPage() {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
        }
        if (pageCount > 0) {
            memory.reserve(MemoryUse.ACTIVE, PagePool.PAGE_BYTES);
        }
        pages[pageCount++] = pool.take();
        offset = 0;
        memoryTight = memory.isTight();
    }

    /** Whether memory was short when the last page was added, so that sealing early would help. */
    public boolean isMemoryTight() {
        return memoryTight;
    }

    /** Bytes of the records, with what it takes to find them. */
    public long sizeBytes() {
        return (long) pageCount * PagePool.PAGE_BYTES - (PagePool.PAGE_BYTES - offset);
    }

    /** Records appended since the last {@link #seal}. */
    public int recordCount() {
        return recordCount;
    }

    /** Whether nothing was appended since the last {@link #seal}. */
    public boolean isEmpty() {
        return recordCount == 0;
    }

    /**
     * Hands all records over under one sequence number and starts afresh.
     *
     * @throws IllegalStateException if there are none
     */
    public LogBatch seal(long sequence) {
        if (isEmpty()) {
            throw new IllegalStateException("Nothing to seal as sequence number " + sequence);
        }
        LogBatch batch =
                new LogBatch(logId, sequence, keyGroupRange, recordCount, takePages(), sizeBytes());
        reset();
        return batch;
    }

    /** A small batch may have to wait for others, so it does not keep a page it hardly uses. */
    private SharedPages takePages() {
        if (sizeBytes() > SMALL_BYTES) {
            return new SharedPages(Arrays.copyOf(pages, pageCount), pool);
        }
        byte[][] own = {Arrays.copyOf(pages[0], offset)};
        pool.give(pages[0]);
        return new SharedPages(own, null);
    }

    /** Drops all records and gives their pages back; for a log that ends. */
    public void discard() {
        for (int i = 0; i < pageCount; i++) {
            pool.give(pages[i]);
        }
        reset();
    }

    private void reset() {
        if (pageCount > 1) {
            memory.release(MemoryUse.ACTIVE, (pageCount - 1L) * PagePool.PAGE_BYTES);
        }
        memoryTight = false;
        pages = pages.length > INITIAL_PAGES ? new byte[INITIAL_PAGES][] : pages;
        Arrays.fill(pages, null);
        pageCount = 0;
        offset = PagePool.PAGE_BYTES;
        recordCount = 0;
    }
}
