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

package dev.dstl.spillable.overlay;

import dev.dstl.spillable.partition.KeyHash;
import dev.dstl.spillable.partition.SealedPartition;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/**
 * Writes the layers of a partition as one sealed partition, or as several if they have become too
 * large for one. Made and taken over on the task thread, run by another; it holds the layers, which
 * do not change meanwhile, until it has run.
 */
final class PartitionMerge {

    /** More entries than this are split, if their hashes allow it. */
    static final int MOST_ENTRIES = 4096;

    private static final int MOST_BYTES = 512 << 10;

    /** A partition with more bytes of entries may be too long for a file. */
    private static final long LONGEST_BYTES = 1L << 30;

    static final int MOST_DEPTH = 20;

    /** A split that leaves less than one in so many on a side is no gain. */
    static final int SMALLEST_SIDE = 8;

    /** What a merge has written for one range of hashes; no partition if no entry has survived. */
    static final class Part {
        final int depth;
        final int firstHash;
        @Nullable final SealedPartition sealed;

        Part(int depth, int firstHash, @Nullable SealedPartition sealed) {
            this.depth = depth;
            this.firstHash = firstHash;
            this.sealed = sealed;
        }
    }

    /** Who takes over the result. */
    final MergeOwner owner;

    /** The partition for which the merge was started. */
    final Layers target;

    private final Layers input;
    private final StateIdentity identity;
    private final KeyHash keyHash;
    private final OverlayMemory memory;
    private final long inputBytes;

    /** Parts in the order of their hashes, at least one; empty if the merge failed. */
    final List<Part> parts = new ArrayList<>();

    /** Why the merge failed, or null. */
    @Nullable Throwable failure;

    /**
     * @param owner takes over the result
     * @param target the partition to be replaced
     * @param input its layers, held for the merge, which releases them
     * @param keyHash by which its entries are found
     */
    PartitionMerge(
            MergeOwner owner,
            Layers target,
            Layers input,
            StateIdentity identity,
            KeyHash keyHash,
            OverlayMemory memory) {
        this.owner = owner;
        this.target = target;
        this.input = input;
        this.identity = identity;
        this.keyHash = keyHash;
        this.memory = memory;
        this.inputBytes =
                (input.active == null ? 0L : input.active.bytes())
                        + (input.frozen == null ? 0 : input.frozen.bytes());
        memory.hold();
    }

    /** Bytes of memory that the merge gives back. */
    long inputBytes() {
        return inputBytes;
    }

    /** Bytes written. */
    long outputBytes() {
        long bytes = 0;
        for (Part part : parts) {
            bytes += part.sealed == null ? 0 : part.sealed.length();
        }
        return bytes;
    }

    /** Does the work; does not throw. */
    void run(MergeWorkspace workspace) {
        try {
            synchronized (workspace) {
                if (input.active == null && input.frozen == null && input.sealed != null) {
                    // As it is, so that no checkpoint uploads it again.
                    SealedPartition copy = workspace.copy(input.sealed);
                    parts.add(new Part(input.depth, input.firstHash, copy));
                } else {
                    int count = workspace.collect(input, keyHash);
                    write(workspace, 0, count, input.firstHash, input.depth);
                }
            }
        } catch (Throwable e) {
            fail(e);
            return;
        }
        input.release(memory);
    }

    /** Ends a merge that cannot be run, or not to its end. */
    void fail(Throwable reason) {
        failure = reason;
        discard();
        input.release(memory);
    }

    private void write(MergeWorkspace workspace, int from, int until, int firstHash, int depth)
            throws IOException {
        int count = until - from;
        long bytes = count > 1 ? workspace.bytes(input, from, until) : 0;
        if ((count > MOST_ENTRIES || bytes > MOST_BYTES) && depth < MOST_DEPTH) {
            int bit = 1 << (31 - depth);
            int middle = from;
            while (middle < until && (workspace.hashOf(middle) & bit) == 0) {
                middle++;
            }
            if (isSplit(count, Math.min(middle - from, until - middle), bytes)) {
                write(workspace, from, middle, firstHash, depth + 1);
                write(workspace, middle, until, firstHash | bit, depth + 1);
                return;
            }
        }
        SealedPartition sealed =
                count == 0 ? null : workspace.write(input, from, until, identity, firstHash, depth);
        parts.add(new Part(depth, firstHash, sealed));
    }

    /** Whether entries are split, of which {@code smallerSide} are on one side. */
    static boolean isSplit(int count, int smallerSide, long bytes) {
        return smallerSide >= Math.max(1, count / SMALLEST_SIDE) || bytes > LONGEST_BYTES;
    }

    /** Gives back what was written and nobody takes over. */
    void discard() {
        for (Part part : parts) {
            if (part.sealed != null) {
                memory.release(part.sealed);
            }
        }
        parts.clear();
    }

    /**
     * Lets go of the memory. To be called on the task thread once the result was taken over.
     *
     * @throws IOException if this was the last holder and a directory cannot be deleted
     */
    void close() throws IOException {
        memory.release();
    }
}
