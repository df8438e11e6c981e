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

package dev.dstl.log.simulation.schedule;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** A pool of threads that never block. Each task is an event of one of its lanes. */
public final class LaneExecutor implements Executor {

    private final Dice dice;
    private final List<Lane> lanes;
    private final ThreadStarts starts;
    private boolean shutDown;

    /** Creates a pool whose threads always start. */
    public LaneExecutor(Dice dice, List<Lane> lanes) {
        this(dice, lanes, ThreadStarts.PROMPT);
    }

    public LaneExecutor(Dice dice, List<Lane> lanes, ThreadStarts starts) {
        this.starts = starts;
        this.dice = dice;
        this.lanes = lanes;
    }

    @Override
    public void execute(Runnable work) {
        if (shutDown) {
            throw new RejectedExecutionException("Shut down");
        }
        long delayMillis = starts.delayMillis();
        Lane lane = dice.oneOf(lanes);
        if (delayMillis == 0) {
            lane.add("work", work);
        } else {
            lane.addIn(delayMillis, "late work", work);
        }
    }

    /** Rejects further tasks; waiting ones still run. */
    public void shutDown() {
        shutDown = true;
    }

    /** Drops all tasks silently, as the process has been killed. */
    public void vanish() {
        lanes.forEach(Lane::close);
    }
}
