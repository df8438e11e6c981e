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

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.testutils.ManuallyTriggeredScheduledExecutorService;

/** Fires timers when the test says so, and refuses to schedule some. */
final class FaultyClock extends ManuallyTriggeredScheduledExecutorService {

    private int refusedTimers;

    /** Whether a fatal error ends the thread of an upload outside of the snapshot. */
    boolean fatalToWatch;

    /** Refuses the timers of the next materializations. */
    void refuseTimers(int count) {
        refusedTimers = count;
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        if (fatalToWatch && unit == TimeUnit.MINUTES) {
            throw new ThreadDeath();
        }
        if (refusedTimers > 0 && unit == TimeUnit.MILLISECONDS) {
            refusedTimers--;
            throw new OutOfMemoryError("unable to create native thread");
        }
        return super.schedule(command, delay, unit);
    }
}
