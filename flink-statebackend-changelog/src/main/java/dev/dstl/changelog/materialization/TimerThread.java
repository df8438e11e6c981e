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

import java.util.concurrent.Callable;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * A thread for timers that ends while there are none. A timer for which it cannot be started is not
 * scheduled, and the caller gets the error; by default the timer would be in the queue all the
 * same, where nobody could cancel it and it would retain what it refers to. Thread-safe.
 */
final class TimerThread extends ScheduledThreadPoolExecutor {

    /**
     * Starts no thread yet.
     *
     * @param keepAliveSeconds after which the thread ends while there is no timer
     */
    TimerThread(ThreadFactory threads, long keepAliveSeconds) {
        super(1, threads);
        setKeepAliveTime(keepAliveSeconds, TimeUnit.SECONDS);
        allowCoreThreadTimeOut(true);
        setRemoveOnCancelPolicy(true);
    }

    /** Called before a timer is added to the queue. */
    @Override
    protected <V> RunnableScheduledFuture<V> decorateTask(
            Runnable action, RunnableScheduledFuture<V> timer) {
        prestartCoreThread();
        return timer;
    }

    @Override
    protected <V> RunnableScheduledFuture<V> decorateTask(
            Callable<V> action, RunnableScheduledFuture<V> timer) {
        prestartCoreThread();
        return timer;
    }
}
