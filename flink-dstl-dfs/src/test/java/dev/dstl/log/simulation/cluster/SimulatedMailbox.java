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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.simulation.schedule.Lane;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.function.ThrowingRunnable;

/** The mailbox of a task. Runs mails in order until the task ends. */
final class SimulatedMailbox implements MailboxExecutor {

    private final Lane lane;

    SimulatedMailbox(Lane lane) {
        this.lane = lane;
    }

    @Override
    public void execute(
            MailOptions mailOptions,
            ThrowingRunnable<? extends Exception> command,
            String descriptionFormat,
            Object... descriptionArgs) {
        if (lane.isClosed()) {
            throw new RejectedExecutionException("The task has ended");
        }
        lane.add("reads mail", () -> ThrowingRunnable.unchecked(command).run());
    }

    @Override
    public void yield() {
        throw new UnsupportedOperationException("The log waits for no mail");
    }

    @Override
    public boolean tryYield() {
        throw new UnsupportedOperationException("The log waits for no mail");
    }

    @Override
    public boolean shouldInterrupt() {
        return false;
    }
}
