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

package dev.dstl.log.ownership;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.execution.Timers.Timer;

/**
 * A request on the thread that creates and ends this object. The thread is interrupted if the
 * request takes too long; that interrupt does not outlast the request. Thread-safe.
 */
final class TimedRequest {

    /** After the interrupt; longer than any client needs to react to it. */
    private static final long REACTION_MILLIS = 60_000;

    private final Thread thread = Thread.currentThread();
    private final Timers timers;
    private final Runnable doesNotReact;
    private final Timer limit;

    @GuardedBy("this")
    private boolean ended;

    @GuardedBy("this")
    private boolean interrupted;

    /**
     * Starts a request.
     *
     * @param limitMillis time after which the thread is interrupted
     * @param doesNotReact called on another thread if the request runs on for a minute after the
     *     interrupt; must not block
     */
    TimedRequest(Timers timers, long limitMillis, Runnable doesNotReact) {
        this.timers = timers;
        this.doesNotReact = doesNotReact;
        limit = timers.schedule(this::interrupt, limitMillis);
    }

    private synchronized void interrupt() {
        if (!ended) {
            interrupted = true;
            thread.interrupt();
            timers.schedule(this::report, REACTION_MILLIS);
        }
    }

    private void report() {
        synchronized (this) {
            if (ended) {
                return;
            }
        }
        doesNotReact.run();
    }

    /** Ends the request. Called once, on the same thread. */
    void end() {
        limit.cancel();
        synchronized (this) {
            ended = true;
            if (interrupted) {
                boolean unused = Thread.interrupted();
            }
        }
    }
}
