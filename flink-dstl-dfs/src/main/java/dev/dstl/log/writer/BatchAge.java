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
 * happens on threads of the log.
 */
final class BatchAge {

    private static final long NONE = -1;

    @Nullable private final MailboxExecutor mailbox;
    private final Runnable seal;

    /** The sequence number that the batch with records will have. */
    private volatile long begun = NONE;

    /** The sequence number of the batch that has to be sealed. */
    private volatile long due = NONE;

    private long begunBefore = NONE;
    private long mailedFor = NONE;

    /**
     * @param mailbox of the task; null for none
     * @param seal for the task thread; seals the batch if it is still due
     */
    BatchAge(@Nullable MailboxExecutor mailbox, Runnable seal) {
        this.mailbox = mailbox;
        this.seal = seal;
    }

    /** The first record was appended. Called by the task. */
    void begun(long sequence) {
        begun = sequence;
    }

    /** The batch was sealed or discarded. Called by the task. */
    void ended() {
        begun = NONE;
    }

    /** Whether the batch that will have this sequence number has to be sealed. */
    boolean isDue(long sequence) {
        return due == sequence;
    }

    /** Some time has passed; a batch that had records the last time as well is old. */
    synchronized void grownOlder() {
        long now = begun;
        if (now != NONE && now == begunBefore) {
            askFor(now);
        }
        begunBefore = now;
    }

    /** The batch shall be sealed whatever its age. */
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
            mailbox.execute(seal::run, "Seal changes that wait to be uploaded");
        } catch (RejectedExecutionException taskEnds) {
            // Its last checkpoint takes the changes with it, or nobody needs them.
            return;
        }
    }
}
