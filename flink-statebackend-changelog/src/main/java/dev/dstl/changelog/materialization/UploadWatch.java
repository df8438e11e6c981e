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

import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.annotation.Nullable;
import javax.annotation.concurrent.GuardedBy;

/**
 * Watches the upload of a snapshot, whose thread may never return, and gives it up when the store
 * has not answered for long. Thread-safe.
 */
public final class UploadWatch {

    /** Longer than a single call to a store takes, even if it uploads a large file. */
    private static final long MAX_SILENT_MINUTES = 30;

    private final ScheduledExecutorService clock;
    private final DelegateSnapshot snapshot;
    private final Consumer<IOException> giveUp;

    /** Created in advance, since memory may be out when it is needed. */
    private final IOException unwatched =
            new IOException("An upload cannot be watched for lack of memory");

    @GuardedBy("this")
    @Nullable
    private Future<?> timer;

    @GuardedBy("this")
    private boolean ended;

    /**
     * Creates a watch that has not started. All arguments stay the caller's.
     *
     * @param clock fires the checks
     * @param giveUp called at most once, on the clock's thread and without a lock held; must not
     *     block
     */
    public UploadWatch(
            ScheduledExecutorService clock,
            DelegateSnapshot snapshot,
            Consumer<IOException> giveUp) {
        this.clock = clock;
        this.snapshot = snapshot;
        this.giveUp = giveUp;
    }

    /** Starts the watch. If this fails, nothing is watched. No effect after {@link #end()}. */
    public void start() {
        checkLater(snapshot.progress());
    }

    /** Ends the watch. A check that is running may still give the upload up. */
    public synchronized void end() {
        ended = true;
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    private synchronized void checkLater(long progress) {
        if (!ended) {
            timer = clock.schedule(() -> check(progress), MAX_SILENT_MINUTES, TimeUnit.MINUTES);
        }
    }

    private void check(long progressBefore) {
        long progress = snapshot.progress();
        if (progress == progressBefore) {
            giveUp.accept(
                    new IOException(
                            "The checkpoint storage has not answered for "
                                    + MAX_SILENT_MINUTES
                                    + " minutes"));
            return;
        }
        try {
            checkLater(progress);
        } catch (Throwable noMemory) {
            // Otherwise nothing would end an upload that hangs from now on.
            giveUp.accept(unwatched);
        }
    }
}
