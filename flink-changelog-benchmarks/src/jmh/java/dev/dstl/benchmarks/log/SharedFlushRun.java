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

import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One round of flushes in which all tasks of a TaskManager persist at the same moment. */
final class SharedFlushRun {

    static final int WRITERS = 64;

    private static final int BYTES_PER_WRITER = 16 << 10;
    private static final int WARM_UP_FLUSHES = 5;

    private SharedFlushRun() {}

    static void measure(MeasuredLog log, StoreProfile profile, int flushes, MeasureSink sink)
            throws Exception {
        try (LogStorage storage = new LogStorage(log, profile)) {
            List<MeasuredTask> tasks = new ArrayList<>();
            TaskMailbox mailbox = new TaskMailbox();
            for (int writer = 0; writer < WRITERS; writer++) {
                tasks.add(storage.openTask(mailbox, writer));
            }
            for (int i = 0; i < WARM_UP_FLUSHES; i++) {
                flush(tasks);
            }
            RequestCounts before = storage.counts();
            double[] millis = new double[flushes];
            for (int i = 0; i < flushes; i++) {
                millis[i] = flush(tasks) / (double) TimeUnit.MILLISECONDS.toNanos(1);
            }
            RequestCounts sent = storage.counts().minus(before);
            Arrays.sort(millis);
            sink.add(Measure.SHARED_UPLOADS, sent.requests(RequestType.PUT) / (double) flushes);
            sink.add(Measure.SHARED_P50, millis[flushes / 2]);
            tasks.forEach(MeasuredTask::close);
        }
    }

    private static long flush(List<MeasuredTask> tasks) throws Exception {
        for (MeasuredTask task : tasks) {
            task.append(BYTES_PER_WRITER / RecordSource.RECORD_BYTES);
        }
        long start = System.nanoTime();
        List<MeasuredTask.PendingPersist> pending = new ArrayList<>();
        for (MeasuredTask task : tasks) {
            pending.add(task.persist());
        }
        for (int i = 0; i < tasks.size(); i++) {
            tasks.get(i).complete(pending.get(i));
        }
        return System.nanoTime() - start;
    }
}
