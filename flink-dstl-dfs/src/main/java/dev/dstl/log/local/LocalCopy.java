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
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * The copy of one segment. Counts its references: the batches in the segment, and the checkpoints
 * to recover from. The file is deleted with the last reference. Thread safe; no method blocks.
 */
public final class LocalCopy {

    private final LocalCopies copies;

    @GuardedBy("this")
    private int references;

    /** Null before the copy is complete, and when it is deleted. */
    @GuardedBy("this")
    @Nullable
    private FileStateHandle file;

    LocalCopy(LocalCopies copies, int references) {
        this.copies = copies;
        this.references = references;
    }

    /** The copy, or null if there is none now. */
    @Nullable
    public synchronized StreamStateHandle handle() {
        return file;
    }

    /** Whether anybody could still make use of it. */
    synchronized boolean isNeeded() {
        return references > 0;
    }

    /**
     * The copy is complete.
     *
     * @return false if nobody needs it any more; the file is the caller's to delete then
     */
    synchronized boolean complete(Path path, long length) {
        if (references == 0) {
            return false;
        }
        file = new FileStateHandle(path, length);
        return true;
    }

    /** The copy cannot be read: nobody is sent to it any more. */
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

    /** One more needs it; the caller is one that already does. */
    synchronized void retain() {
        references++;
    }

    /** One less needs it. */
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
        }
    }
}
