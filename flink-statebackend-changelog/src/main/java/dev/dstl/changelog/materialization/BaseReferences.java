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

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts who needs the files of a base: checkpoints on their way, and whoever may hand it to
 * another one. The last one to let go without a checkpoint having been sent deletes them; a
 * checkpoint that was sent never lets go, since then they are the JobManager's. Thread safe.
 */
public final class BaseReferences {

    private final AtomicInteger count = new AtomicInteger(1);
    private final Runnable delete;

    /**
     * Begins with one reference, the creator's.
     *
     * @param delete called once, when nobody needs the files any more, on the thread that says so;
     *     must not block
     */
    public BaseReferences(Runnable delete) {
        this.delete = delete;
    }

    /**
     * Takes one more reference.
     *
     * @return false if there was none left, so that the files are being deleted
     */
    public boolean tryRetain() {
        return count.getAndUpdate(before -> before == 0 ? 0 : before + 1) > 0;
    }

    /**
     * Lets go of a reference; each only once.
     *
     * @return whether it was the last one
     */
    public boolean release() {
        if (count.decrementAndGet() > 0) {
            return false;
        }
        delete.run();
        return true;
    }
}
