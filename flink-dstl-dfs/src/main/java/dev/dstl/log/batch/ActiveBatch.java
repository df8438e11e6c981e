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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordFormat;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import java.util.Arrays;
import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The records that one writer has appended since the last sequence number. Used by the task thread
 * only. Appending occasionally takes a page from the pool and allocates nothing per record.
 *
 * <p>Records are stored one after the other in the layout of {@link PagedRecord} and may span
 * pages. This object owns the pages until {@link #seal} hands them over or {@link #discard} returns
 * them.
 */
public final class ActiveBatch {

    /** One more than the highest key group: the maximum parallelism that Flink allows. */
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

    /**
     * Index of the next free byte in the last page; {@link PagePool#PAGE_BYTES} if there is no page
     * yet.
     */
    private int offset = PagePool.PAGE_BYTES;

    private int recordCount;

    /** Whether memory was short when the last page was added. */
    private boolean memoryTight;

    /**
     * Creates a batch whose memory is accounted for by the caller.
     *
     * @param logId id of the writer incarnation, never reused
     * @param keyGroupRange the key groups of the writer's subtask
     * @param pool where pages are taken from and returned to
     */
    public ActiveBatch(UUID logId, KeyGroupRange keyGroupRange, PagePool pool) {
        this(logId, keyGroupRange, pool, JobMemory.alone(Long.MAX_VALUE));
    }

    /**
     * Creates a batch whose pages count in the memory of its job. The first page does not count,
     * because every changelog has one however often its batch is sealed.
     *
     * @param logId id of the writer incarnation, never reused
     * @param keyGroupRange the key groups of the writer's subtask
     * @param pool where pages are taken from and returned to
     */
    public ActiveBatch(UUID logId, KeyGroupRange keyGroupRange, PagePool pool, JobMemory memory) {
        this.logId = logId;
        this.keyGroupRange = keyGroupRange;
        this.pool = pool;
        this.memory = memory;
    }

    /**
     * Appends a copy of a record.
     *
     * @param kind effect of the record on its state
     * @param keyGroup key group of the record key, -1 for a record without a key group; not checked
     *     against the writer's range, since another state backend may number its records
     *     differently
     * @param stateId not negative
     * @param bytes record key followed by payload, from index 0; not retained
     * @param keyPrefixLength length of key and namespace, the first bytes of the record key; equal
     *     to {@code keyLength} with {@link RecordKind#DELETE_PREFIX}
     * @param keyLength length of the record key in bytes
     * @param length length of record key and payload together in bytes
     * @throws IllegalArgumentException if the arguments contradict each other
     * @throws OutOfMemoryError if there is no memory for a page; nothing is appended if anything is
     *     thrown
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
        int pagesBefore = pageCount;
        int offsetBefore = offset;
        try {
            copyRecord(kind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
        } catch (Throwable t) {
            // Half a record would make the batch unreadable, and the segment that it shares.
            truncate(pagesBefore, offsetBefore);
            throw t;
        }
        recordCount++;
    }

    private void copyRecord(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length) {
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
            copy(scratch, 0, end);
        }
        copy(bytes, 0, length);
    }

    /**
     * Appends a copy of a record that was read, whose bytes are already those of a batch.
     *
     * @param record not retained
     * @throws IllegalArgumentException if it is no record that a writer appends
     * @throws OutOfMemoryError if there is no memory for a page; nothing is appended if anything is
     *     thrown
     */
    public void append(LogRecord record) {
        check(
                record.kind(),
                record.keyGroup(),
                record.stateId(),
                record.buffer(),
                record.keyPrefixLength(),
                record.keyLength(),
                record.keyLength() + record.payloadLength());
        int pagesBefore = pageCount;
        int offsetBefore = offset;
        try {
            int end = RecordFormat.writeVarint(scratch, 0, record.keyGroup() + 1);
            end = RecordFormat.writeVarint(scratch, end, record.length());
            copy(scratch, 0, end);
            copy(record.buffer(), record.offset(), record.length());
        } catch (Throwable t) {
            truncate(pagesBefore, offsetBefore);
            throw t;
        }
        recordCount++;
    }

    /** Returns the pages behind an end, which is now the end of the records. */
    private void truncate(int pagesBefore, int offsetBefore) {
        while (pageCount > pagesBefore) {
            pageCount--;
            byte[] page = pages[pageCount];
            pages[pageCount] = null;
            pool.give(page);
            if (pageCount > 0) {
                memory.release(MemoryUse.ACTIVE, PagePool.PAGE_BYTES);
            }
        }
        offset = offsetBefore;
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
            throw refused(
                    kind, keyGroup, stateId, bytes.length, keyPrefixLength, keyLength, length);
        }
    }

    /** Apart from the check, so that the compiler inlines that. */
    private static IllegalArgumentException refused(
            RecordKind kind,
            int keyGroup,
            int stateId,
            int capacity,
            int keyPrefixLength,
            int keyLength,
            int length) {
        return new IllegalArgumentException(
                String.format(
                        "Not a record: %s, key group %d, state id %d, key prefix %d,"
                                + " record key %d, length %d of %d bytes",
                        kind, keyGroup, stateId, keyPrefixLength, keyLength, length, capacity));
    }

    private void copy(byte[] source, int start, int count) {
        int from = start;
        int to = start + count;
        while (from < to) {
            if (offset == PagePool.PAGE_BYTES) {
                addPage();
            }
            int chunk = Math.min(to - from, PagePool.PAGE_BYTES - offset);
            System.arraycopy(source, from, pages[pageCount - 1], offset, chunk);
            from += chunk;
            offset += chunk;
        }
    }

    private void addPage() {
        if (pageCount == pages.length) {
            pages = Arrays.copyOf(pages, 2 * pageCount);
        }
        pages[pageCount] = pool.take();
        if (pageCount > 0) {
            memory.reserve(MemoryUse.ACTIVE, PagePool.PAGE_BYTES);
        }
        pageCount++;
        offset = 0;
        memoryTight = memory.isTight();
    }

    /**
     * Returns whether memory was short when the last page was added, in which case sealing early
     * helps.
     */
    public boolean isMemoryTight() {
        return memoryTight;
    }

    /** Returns the size of the records in bytes, including their length prefixes. */
    public long sizeBytes() {
        return (long) pageCount * PagePool.PAGE_BYTES - (PagePool.PAGE_BYTES - offset);
    }

    /** Returns the number of records appended since the last {@link #seal}. */
    public int recordCount() {
        return recordCount;
    }

    /** Returns whether no record was appended since the last {@link #seal}. */
    public boolean isEmpty() {
        return recordCount == 0;
    }

    /**
     * Hands all records over as an immutable batch and starts an empty one.
     *
     * @param sequence sequence number of the returned batch
     * @return a batch that the caller must release
     * @throws IllegalStateException if there are no records
     */
    public LogBatch seal(long sequence) {
        if (isEmpty()) {
            throw new IllegalStateException("Nothing to seal as sequence number " + sequence);
        }
        byte[] copied = sizeBytes() > SMALL_BYTES ? null : pages[0];
        LogBatch batch =
                new LogBatch(
                        logId, sequence, keyGroupRange, recordCount, sealedPages(), sizeBytes());
        reset();
        if (copied != null) {
            // Last, when nothing refers to it any more: two writers would share a page that is
            // given twice.
            pool.give(copied);
        }
        return batch;
    }

    /**
     * Copies the records of a small batch, which may have to wait for others, so that it does not
     * retain a mostly empty page.
     */
    private SharedPages sealedPages() {
        if (sizeBytes() > SMALL_BYTES) {
            return new SharedPages(Arrays.copyOf(pages, pageCount), pool);
        }
        byte[][] own = {Arrays.copyOf(pages[0], offset)};
        return new SharedPages(own, null);
    }

    /** Drops all records and returns their pages. Called when the changelog ends. */
    public void discard() {
        truncate(0, PagePool.PAGE_BYTES);
        reset();
    }

    private void reset() {
        byte[][] empty = pages.length > INITIAL_PAGES ? new byte[INITIAL_PAGES][] : pages;
        if (pageCount > 1) {
            memory.release(MemoryUse.ACTIVE, (pageCount - 1L) * PagePool.PAGE_BYTES);
        }
        memoryTight = false;
        pages = empty;
        Arrays.fill(pages, null);
        pageCount = 0;
        offset = PagePool.PAGE_BYTES;
        recordCount = 0;
    }
}
