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

package dev.dstl.changelog.materialization;

import java.util.Optional;
import javax.annotation.concurrent.GuardedBy;

/**
 * Counts the references to the files of a base: those of checkpoints, and that of the checkpointer,
 * which may add the base to further checkpoints. The files are deleted with the last reference. A
 * sent checkpoint never drops its reference, since the JobManager then owns the files. Copies on
 * the local disk are deleted when no task can restore from them any more. Thread-safe.
 */
public final class BaseReferences {

    private final Runnable delete;
    private final Runnable deleteLocalCopies;

    @GuardedBy("this")
    private int all;

    @GuardedBy("this")
    private int local;

    @GuardedBy("this")
    private boolean deleted;

    /**
     * Creates a base without references.
     *
     * @param delete called once, when the last reference is dropped; must not block
     * @param deleteLocalCopies called when the last reference to local copies is dropped; must not
     *     block
     */
    public BaseReferences(Runnable delete, Runnable deleteLocalCopies) {
        this.delete = delete;
        this.deleteLocalCopies = deleteLocalCopies;
    }

    /**
     * Takes a reference.
     *
     * @return empty if the files are being deleted
     */
    public synchronized Optional<BaseReference> tryRetain() {
        if (deleted) {
            return Optional.empty();
        }
        all++;
        local++;
        return Optional.of(new BaseReference(this));
    }

    void releaseLocal() {
        synchronized (this) {
            local--;
            if (local > 0 || deleted) {
                return;
            }
        }
        deleteLocalCopies.run();
    }

    boolean releaseAll() {
        synchronized (this) {
            all--;
            if (all > 0) {
                return false;
            }
            deleted = true;
        }
        delete.run();
        return true;
    }
}
