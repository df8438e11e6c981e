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

import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.execution.ErrorLog;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The delivery of one handle to the JobManager. The JobManager owns its segments unless the handle
 * is dropped before it leaves the TaskManager, as is the handle of a checkpoint that was cancelled.
 * Thread-safe.
 */
final class Delivery {

    private static final ErrorLog LOG = new ErrorLog(Delivery.class);

    private final GroupCommit commit;
    private final List<BatchPosition> positions;
    private final AtomicBoolean dropped = new AtomicBoolean();

    /**
     * Creates a delivery that hands over the segments of a handle.
     *
     * @param positions of all batches in the handle
     */
    Delivery(GroupCommit commit, List<BatchPosition> positions) {
        this.commit = commit;
        this.positions = positions;
        int handedOver = 0;
        try {
            for (BatchPosition position : positions) {
                commit.handOver(position);
                handedOver++;
            }
        } catch (Throwable t) {
            reclaim(positions.subList(0, handedOver));
            throw t;
        }
    }

    /** Reports that the handle will never be sent. */
    void drop() {
        if (dropped.compareAndSet(false, true)) {
            reclaim(positions);
        }
    }

    private void reclaim(List<BatchPosition> handedOver) {
        for (BatchPosition position : handedOver) {
            try {
                commit.reclaim(position);
            } catch (Throwable t) {
                LOG.error(
                        "{} may be left behind; this is a defect, please report it.", position, t);
            }
        }
    }
}
