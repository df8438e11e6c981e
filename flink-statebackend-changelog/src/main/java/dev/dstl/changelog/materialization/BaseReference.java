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

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A reference to the files of a base, held by one checkpoint or by the checkpointer. Thread-safe.
 */
public final class BaseReference {

    private final BaseReferences references;
    private final AtomicBoolean needed = new AtomicBoolean(true);
    private final AtomicBoolean neededLocally = new AtomicBoolean(true);

    BaseReference(BaseReferences references) {
        this.references = references;
    }

    /** Returns the references of the same base. */
    public BaseReferences references() {
        return references;
    }

    /**
     * Drops the reference because the checkpoint will never be sent. No effect the second time.
     *
     * @return whether this was the last reference, so that the files are being deleted
     */
    public boolean drop() {
        if (!needed.getAndSet(false)) {
            return false;
        }
        boolean last = references.releaseAll();
        dropLocal();
        return last;
    }

    /** Drops the reference to the local copies. No effect the second time. */
    public void dropLocal() {
        if (neededLocally.getAndSet(false)) {
            references.releaseLocal();
        }
    }
}
