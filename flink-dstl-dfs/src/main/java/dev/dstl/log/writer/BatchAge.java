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

import java.util.concurrent.RejectedExecutionException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.operators.MailboxExecutor;

/**
 * Decides whether the active batch of a task must be sealed because of its age or because memory is
 * short. The task checks this when it appends. It also receives a mail, so that the changes of an
 * idle task are uploaded as soon as those of a busy one.
 *
 * <p>The task thread writes once per batch and reads a volatile field per record; everything else
 * happens on threads of the changelog storage.
 */
final class BatchAge {

    private static final long NONE = -1;

    @Nullable private final MailboxExecutor mailbox;
    private final Runnable seal;

    /** Sequence number that the current batch will get; {@code NONE} while it is empty. */
    private volatile long begun = NONE;

    /** Sequence number of the batch that must be sealed. */
    private volatile long due = NONE;

    private long begunBefore = NONE;
    private long mailedFor = NONE;

    /**
     * Creates the age of a task's active batch.
     *
     * @param mailbox of the task; null for none
     * @param seal runs on the task thread; seals the batch if it is still due
     */
    BatchAge(@Nullable MailboxExecutor mailbox, Runnable seal) {
        this.mailbox = mailbox;
        this.seal = seal;
    }

    /** Reports that the first record was appended. Called on the task thread. */
    void begun(long sequence) {
        begun = sequence;
    }

    /** Reports that the batch was sealed or discarded. Called on the task thread. */
    void ended() {
        begun = NONE;
    }

    /** Returns whether the batch that will get this sequence number must be sealed. */
    boolean isDue(long sequence) {
        return due == sequence;
    }

    /** Called periodically: a batch that already had records at the last call must be sealed. */
    synchronized void grownOlder() {
        long now = begun;
        if (now != NONE && now == begunBefore) {
            askFor(now);
        }
        begunBefore = now;
    }

    /** Requests sealing whatever the age of the batch. */
    synchronized void memoryShort() {
        long now = begun;
        if (now != NONE) {
            askFor(now);
        }
    }

    private void askFor(long sequence) {
        due = sequence;
        if (mailbox == null || mailedFor == sequence) {
            return;
        }
        mailedFor = sequence;
        try {
            mailbox.execute(seal::run, "Seal state changes that wait to be uploaded");
        } catch (RejectedExecutionException taskEnds) {
            // Its last checkpoint contains the changes, or they are not needed.
            return;
        }
    }
}
