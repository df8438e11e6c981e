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

package dev.dstl.spillable.spill;

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.config.SpillableOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns when timers take more of the heap than spilling is to leave: no spilled state makes up for
 * that. Warns once, and again only after timers took less than loading fills up to. Task thread
 * only.
 */
final class TimerLimit {

    private static final Logger LOG = LoggerFactory.getLogger(TimerLimit.class);

    private final SpillConfig config;
    private boolean exceeded;

    TimerLimit(SpillConfig config) {
        this.config = config;
    }

    /**
     * @param timers of this backend; if it has none, it leaves the warning to others
     * @param heapRatio share of the heap that the timers of all backends take
     */
    void check(TimerSizes timers, double heapRatio) {
        if (exceeded) {
            exceeded = heapRatio >= config.loadEndRatio();
        } else if (heapRatio > config.spillEndRatio() && timers.count() > 0) {
            exceeded = true;
            LOG.warn(
                    "Task '{}' has {} timers of about {} bytes. All timers of this TaskManager take"
                            + " {} % of its heap, but spilling is to leave {} % ('{}'), and timers"
                            + " are never spilled. Give the TaskManager a larger heap, register"
                            + " fewer timers, for example by rounding their times, or use RocksDB"
                            + " with 'state.backend.rocksdb.timer-service.factory: rocksdb'.",
                    Thread.currentThread().getName(),
                    timers.count(),
                    timers.bytes(),
                    Math.round(100 * heapRatio),
                    Math.round(100 * config.spillEndRatio()),
                    SpillableOptions.SPILL_END_RATIO.key());
        }
    }
}
