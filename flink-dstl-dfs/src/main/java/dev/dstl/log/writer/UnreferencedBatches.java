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

import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.local.LocalLog;
import java.util.ArrayList;
import java.util.List;

/** Collects batches without references, and releases them without a lock held. */
final class UnreferencedBatches implements Runnable {

    private static final ErrorLog LOG = new ErrorLog(UnreferencedBatches.class);

    private final GroupCommit commit;
    private final LocalLog localLog;
    private final ArrayList<TailBatch> batches = new ArrayList<>();

    UnreferencedBatches(GroupCommit commit, LocalLog localLog) {
        this.commit = commit;
        this.localLog = localLog;
    }

    /** Lets that many batches be added without taking memory. */
    void expect(int count) {
        batches.ensureCapacity(count);
    }

    /** Drops a reference. Called with the lock of the {@link LogTail} held. */
    void add(TailBatch batch) {
        if (batch.release()) {
            batches.add(batch);
        }
    }

    /** Drops references. Called with the lock of the {@link LogTail} held. */
    void addAll(List<TailBatch> released) {
        for (int i = 0; i < released.size(); i++) {
            add(released.get(i));
        }
    }

    /** Releases the batches. A batch whose release fails does not affect the others. */
    @Override
    public void run() {
        for (TailBatch batch : batches) {
            try {
                localLog.release(
                        batch.copyInCheckpoints(), batch.firstCheckpoint(), batch.lastCheckpoint());
            } catch (Throwable t) {
                LOG.error("The copy of {} leaks; this is a defect, please report it.", batch, t);
            }
            try {
                commit.release(batch.sealed());
            } catch (Throwable t) {
                LOG.error("{} leaks; this is a defect, please report it.", batch, t);
            }
        }
    }
}
