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

package dev.dstl.changelog.checkpoint;

import dev.dstl.changelog.materialization.MaterializedBase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.util.function.BiConsumerWithException;

/**
 * Full snapshots that were uploaded as part of a checkpoint, on their way from the asynchronous
 * thread back to the task thread. No mail is involved: the next checkpoint must see them even if it
 * overtakes all mails. Thread safe.
 */
final class FullBases {

    private final Queue<Entry> uploaded = new ConcurrentLinkedQueue<>();

    /** Any thread. */
    void uploaded(long checkpointId, MaterializedBase base) {
        uploaded.add(new Entry(checkpointId, base));
    }

    /** Hands what has come since the last call to {@code taker}, oldest first. */
    void drain(BiConsumerWithException<Long, MaterializedBase, Exception> taker) throws Exception {
        Entry next = uploaded.poll();
        while (next != null) {
            taker.accept(next.checkpointId, next.base);
            next = uploaded.poll();
        }
    }

    private static final class Entry {
        final long checkpointId;
        final MaterializedBase base;

        Entry(long checkpointId, MaterializedBase base) {
            this.checkpointId = checkpointId;
            this.base = base;
        }
    }
}
