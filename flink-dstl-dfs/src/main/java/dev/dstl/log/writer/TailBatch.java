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

package dev.dstl.log.writer;

import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.commit.BatchListener;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.SealedBatch;
import java.io.IOException;
import javax.annotation.Nullable;

/** A sealed batch as its log sees it. Guarded by the {@link LogTail} it belongs to. */
final class TailBatch implements BatchListener {

    private final LogTail tail;
    private final long sequence;
    private final SealedBatch sealed;

    /** One for the tail, one for every persist under way that contains the batch. */
    private int references = 1;

    private boolean handedOut;
    @Nullable private BatchPosition position;

    TailBatch(LogTail tail, LogBatch batch) {
        this.tail = tail;
        this.sequence = batch.sequence();
        this.sealed = new SealedBatch(batch, this);
    }

    @Override
    public void durable(BatchPosition position) {
        tail.durable(this, position);
    }

    @Override
    public void parked(IOException cause) {
        tail.parked(this, cause);
    }

    long sequence() {
        return sequence;
    }

    SealedBatch sealed() {
        return sealed;
    }

    boolean isDurable() {
        return position != null;
    }

    BatchPosition position() {
        if (position == null) {
            throw new IllegalStateException("Batch " + sequence + " is not durable");
        }
        return position;
    }

    void becameDurable(BatchPosition position) {
        this.position = position;
    }

    void retain() {
        references++;
    }

    /** Returns whether nobody needs the batch any more. */
    boolean release() {
        return --references == 0;
    }

    /** Returns whether no checkpoint was given the batch before. */
    boolean handOut() {
        boolean first = !handedOut;
        handedOut = true;
        return first;
    }
}
