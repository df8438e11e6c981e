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

package dev.dstl.log.simulation.invariant;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.simulation.cluster.SimulatedLog;

/**
 * The memory that threads hold during writes stays within the limit that all jobs share, except for
 * what each task had appended and not sealed, which counts from its second page on, and the record
 * that it was about to append.
 */
public final class BoundedMemory extends Invariant {

    /** Size of the largest record, overhead included. */
    private static final long RECORD_BYTES = 4_300;

    @Override
    public void created(String file, String client) {
        SimulatedLog writer = cluster().writer(client);
        long held = 0;
        long limit = 0;
        long unsealed = 0;
        for (SimulatedLog log : writer.taskManager().openedLogs()) {
            held += log.heldBytes() - log.deafBytes() + log.recentSegmentBytes();
            limit = Math.max(limit, log.settings().maxInFlightBytes());
            unsealed =
                    Math.max(
                            unsealed,
                            Math.min(log.settings().sealThresholdBytes(), PagePool.PAGE_BYTES));
        }
        long bound = limit + cluster().maxTasks() * (unsealed + RECORD_BYTES);
        if (held > bound) {
            violated("the process of %s writes %d bytes, more than %d", client, held, bound);
        }
    }
}
