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

import dev.dstl.log.execution.DaemonThreads;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.annotation.concurrent.GuardedBy;

/**
 * The threads that the materializations of all tasks of this process share: a bounded number for
 * uploads, as many for deletions, one for timers, and one for each call that hangs. Flink's pool of
 * a task has a single thread, on which checkpoints would wait for a materialization. Daemon
 * threads; idle ones end, so that they retain no class loader. Thread-safe.
 */
public final class MaterializationThreads {

    private static final long KEEP_ALIVE_SECONDS = 60;

    @GuardedBy("MaterializationThreads.class")
    private static MaterializationThreads shared;

    private final ThreadPoolExecutor uploads;
    private final ThreadPoolExecutor deletions;
    private final ScheduledExecutorService clock;
    private final Executor interrupts =
            Executors.newCachedThreadPool(new DaemonThreads("dstl-materialization-interrupt"));

    private MaterializationThreads(int uploadThreads) {
        uploads = pool(uploadThreads, "dstl-materialization");
        deletions = pool(uploadThreads, "dstl-materialization-discard");
        clock =
                new TimerThread(
                        new DaemonThreads("dstl-materialization-clock"), KEEP_ALIVE_SECONDS);
    }

    private static ThreadPoolExecutor pool(int threads, String name) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        threads,
                        threads,
                        KEEP_ALIVE_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        new DaemonThreads(name));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /**
     * Returns the threads of this process.
     *
     * @param uploadThreads number of upload threads, positive; only the first call sets it
     */
    public static synchronized MaterializationThreads shared(int uploadThreads) {
        if (shared == null) {
            shared = new MaterializationThreads(uploadThreads);
        }
        return shared;
    }

    /** Returns the executor of uploads, which runs as many at a time as there are threads. */
    public Executor uploads() {
        return uploads;
    }

    /** Returns the executor of deletions, which may hang without holding up uploads. */
    public Executor deletions() {
        return deletions;
    }

    /** Returns the clock for timers; its tasks must not block. */
    public ScheduledExecutorService clock() {
        return clock;
    }

    /** Returns an executor of actions that may block forever, each on a thread of its own. */
    public Executor interrupts() {
        return interrupts;
    }

    /** Runs an action that may block forever after a second, on a thread of its own. */
    public void afterAWhile(Runnable action) {
        Future<?> unused = clock.schedule(() -> interrupts.execute(action), 1, TimeUnit.SECONDS);
    }
}
