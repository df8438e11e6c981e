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

package dev.dstl.benchmarks.log;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The mailbox of a task thread: any thread adds, the task thread runs what was added while it
 * waits. Flink's built-in changelog needs it, since its uploads complete there.
 */
public final class TaskMailbox implements MailboxExecutor {

    private final BlockingQueue<ThrowingRunnable<? extends Exception>> mails =
            new LinkedBlockingQueue<>();

    @Override
    public void execute(
            MailOptions options,
            ThrowingRunnable<? extends Exception> command,
            String description,
            Object... arguments) {
        mails.add(command);
    }

    @Override
    public void yield() throws InterruptedException {
        run(mails.take());
    }

    @Override
    public boolean tryYield() {
        ThrowingRunnable<? extends Exception> mail = mails.poll();
        if (mail == null) {
            return false;
        }
        run(mail);
        return true;
    }

    @Override
    public boolean shouldInterrupt() {
        return false;
    }

    /** Runs mails until {@code future} is done, however it ends. */
    void await(CompletableFuture<?> future) throws InterruptedException {
        if (future.isDone()) {
            return;
        }
        CompletableFuture<?> ignored =
                future.whenComplete((result, failure) -> mails.add(() -> {}));
        while (!future.isDone()) {
            this.yield();
        }
    }

    private static void run(ThrowingRunnable<? extends Exception> mail) {
        try {
            mail.run();
        } catch (Exception e) {
            throw new FlinkRuntimeException("A mail of the changelog failed", e);
        }
    }
}
