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

package dev.dstl.log.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.segment.EncodedSegment;
import java.util.concurrent.atomic.AtomicReference;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * The local copy of one segment. Counts references: of the batches in the segment, and of
 * checkpoints that a task may recover from. With the last reference the file is deleted, or the
 * memory of a copy freed that still waits for the disk. Thread-safe; no method blocks.
 */
public final class LocalCopy {

    private final LocalCopies copies;

    @GuardedBy("this")
    private int references;

    /** Null before the copy is complete and after it is deleted. */
    @GuardedBy("this")
    @Nullable
    private FileStateHandle file;

    /** Null unless it waits for the disk, which holds memory, or is being written. */
    private final AtomicReference<EncodedSegment> segment = new AtomicReference<>();

    LocalCopy(LocalCopies copies, int references) {
        this.copies = copies;
        this.references = references;
    }

    /** Returns a handle of the copy, or null if there is none now. */
    @Nullable
    public synchronized StreamStateHandle handle() {
        return file;
    }

    /** Sets what is to be written, whose memory is reserved. */
    void waitsFor(EncodedSegment content) {
        segment.set(content);
    }

    /** Returns what is to be written; null if it is written or given up. */
    @Nullable
    EncodedSegment segment() {
        return segment.get();
    }

    /** Returns what holds reserved memory, once. */
    @Nullable
    EncodedSegment takeSegment() {
        return segment.getAndSet(null);
    }

    /** Returns whether the copy has references. */
    synchronized boolean isNeeded() {
        return references > 0;
    }

    /**
     * Reports that the copy is written.
     *
     * @return false if the copy has no references any more; the caller must delete the file then
     */
    synchronized boolean complete(Path path, long length) {
        if (references == 0) {
            return false;
        }
        file = new FileStateHandle(path, length);
        return true;
    }

    /** Marks the copy as unreadable: {@link #handle()} returns null from now on. */
    public void lost() {
        FileStateHandle unreadable;
        synchronized (this) {
            unreadable = file;
            file = null;
        }
        if (unreadable != null) {
            copies.lost(unreadable.getFilePath());
        }
    }

    /** Adds a reference. Called by an owner of one. */
    synchronized void retain() {
        references++;
    }

    /** Drops a reference. */
    public void release() {
        FileStateHandle unneeded;
        synchronized (this) {
            if (--references > 0) {
                return;
            }
            unneeded = file;
            file = null;
        }
        if (unneeded != null) {
            copies.delete(unneeded.getFilePath());
        } else if (segment.get() != null) {
            copies.cancel(this);
        }
    }
}
