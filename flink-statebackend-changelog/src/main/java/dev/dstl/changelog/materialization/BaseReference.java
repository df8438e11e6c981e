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

/** The reference of one checkpoint, or of the checkpointer, to the files of a base. Thread safe. */
public final class BaseReference {

    private final BaseReferences references;
    private final AtomicBoolean needed = new AtomicBoolean(true);
    private final AtomicBoolean neededLocally = new AtomicBoolean(true);

    BaseReference(BaseReferences references) {
        this.references = references;
    }

    /** Where more can be had. */
    public BaseReferences references() {
        return references;
    }

    /**
     * No file is needed, since the checkpoint will never be sent. No effect the second time.
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

    /** No local copy is needed, at least for this. No effect the second time. */
    public void dropLocal() {
        if (neededLocally.getAndSet(false)) {
            references.releaseLocal();
        }
    }
}
