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

package dev.dstl.log.testing;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.ThrowingRunnable;

/** A mailbox whose mails a test runs on its own thread. Thread-safe. */
public final class QueuedMailbox implements MailboxExecutor {
    private final Queue<ThrowingRunnable<? extends Exception>> mails =
            new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    @Override
    public void execute(
            MailOptions mailOptions,
            ThrowingRunnable<? extends Exception> command,
            String descriptionFormat,
            Object... descriptionArgs) {
        if (closed) {
            throw new RejectedExecutionException("closed");
        }
        mails.add(command);
    }

    /** Number of waiting mails. */
    public int size() {
        return mails.size();
    }

    /** Rejects further mails, like the mailbox of a task that ends. */
    public void close() {
        closed = true;
    }

    /** Runs all mails. */
    public void runAll() {
        while (tryYield()) {}
    }

    @Override
    public void yield() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryYield() {
        ThrowingRunnable<? extends Exception> mail = mails.poll();
        if (mail == null) {
            return false;
        }
        try {
            mail.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        return true;
    }

    @Override
    public boolean shouldInterrupt() {
        return false;
    }
}
