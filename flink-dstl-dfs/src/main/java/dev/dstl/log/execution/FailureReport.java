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

package dev.dstl.log.execution;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Reports a failure, or a result, to a thread that waits for it, also while memory is out. */
public final class FailureReport {

    private static final long PAUSE_NANOS = Duration.ofMillis(10).toNanos();

    private FailureReport() {}

    /**
     * Runs {@code report} until memory suffices for it. A report that is lost would leave the other
     * thread waiting forever.
     *
     * @param report without effect if it ran before; created in advance, since that takes memory
     */
    public static void send(Runnable report) {
        while (!isSent(report)) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static boolean isSent(Runnable report) {
        try {
            report.run();
            return true;
        } catch (OutOfMemoryError stillOut) {
            return false;
        }
    }
}
