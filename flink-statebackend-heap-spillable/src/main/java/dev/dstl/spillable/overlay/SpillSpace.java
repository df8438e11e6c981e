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

import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;

/**
 * The partition pool of one backend, made when the first entry is spilled: a backend that never
 * spills makes no directory and takes no memory. Used by any thread; what it opens belongs to the
 * task thread.
 */
public final class SpillSpace implements AutoCloseable {

    /** Makes the pool. */
    public interface Opener {
        /**
         * Called once, by the first thread that needs the pool.
         *
         * @throws IOException if no spill directory can be made; called again next time then
         */
        PartitionPool open() throws IOException;
    }

    private final Opener opener;
    private final Map<String, Integer> stateIds = new HashMap<>();

    /** Held while the pool is made, which a disk that hangs may make long: not to be closed. */
    private final Object opening = new Object();

    @Nullable private volatile PartitionPool pool;
    private boolean closed;

    /**
     * @param opener what it makes belongs to this object
     */
    public SpillSpace(Opener opener) {
        this.opener = opener;
    }

    /**
     * The pool, made now if there is none yet.
     *
     * @throws IOException if no spill directory can be made, or if this object is closed
     */
    public PartitionPool open() throws IOException {
        PartitionPool open = pool;
        if (open != null) {
            return open;
        }
        synchronized (opening) {
            open = poolUnlessClosed(null);
            if (open == null) {
                PartitionPool opened = opener.open();
                try {
                    open = poolUnlessClosed(opened);
                } catch (IOException e) {
                    opened.close();
                    throw e;
                }
            }
            return open;
        }
    }

    @Nullable
    private synchronized PartitionPool poolUnlessClosed(@Nullable PartitionPool opened)
            throws IOException {
        if (closed) {
            throw new IOException("The state backend is closed");
        }
        if (opened != null) {
            pool = opened;
        }
        return pool;
    }

    /**
     * Keeps the files of the pool until what it returns is closed, even beyond {@link #close()}.
     *
     * @throws IOException if there is no pool and none can be made, or if this object is closed
     * @throws IllegalStateException if it has just been closed, and the files are gone
     */
    public Closeable holdFiles() throws IOException {
        OverlayMemory memory = open().memory();
        memory.holdFiles();
        return memory::releaseFiles;
    }

    /** Number by which partitions name a state; the same one for the same name. */
    public synchronized int stateId(String stateName) {
        return stateIds.computeIfAbsent(stateName, name -> stateIds.size());
    }

    /** The pool if there is one yet. */
    @Nullable
    public PartitionPool pool() {
        return pool;
    }

    /**
     * Closes the pool if there is one. Does not wait for one that is being made, which is closed by
     * the thread that makes it.
     *
     * @throws IOException if a spill directory cannot be deleted
     */
    @Override
    public void close() throws IOException {
        PartitionPool open;
        synchronized (this) {
            closed = true;
            open = pool;
            pool = null;
        }
        if (open != null) {
            open.close();
        }
    }
}
