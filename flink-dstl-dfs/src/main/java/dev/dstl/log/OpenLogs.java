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

package dev.dstl.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.flink.util.ShutdownHookUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The changelogs of this process that have not ended. When the process stops, it waits a few
 * seconds until they have deleted the files that no checkpoint contains. A killed process leaves
 * these files behind.
 */
final class OpenLogs {

    private static final Logger LOG = LoggerFactory.getLogger(OpenLogs.class);

    /** Short, because a process that does not stop soon is killed. */
    private static final long BOUND_MILLIS = 4_000;

    private static final OpenLogs OF_PROCESS = new OpenLogs();

    @GuardedBy("this")
    private final Set<OpenLog> open = new LinkedHashSet<>();

    @GuardedBy("this")
    private boolean hooked;

    /** One of the changelogs. */
    interface OpenLog extends AutoCloseable {

        /** Starts to end; does not wait. */
        @Override
        void close();

        /** Ends running uploads after {@link #close}. */
        void interruptUploads();

        /** Returns a future that completes some time after {@link #close}. */
        CompletableFuture<Void> ended();
    }

    OpenLogs() {}

    static OpenLogs ofProcess() {
        return OF_PROCESS;
    }

    synchronized void add(OpenLog log) {
        if (!hooked) {
            hooked = true;
            ShutdownHookUtil.addShutdownHook(
                    () -> closeAll(BOUND_MILLIS), OpenLogs.class.getSimpleName(), LOG);
        }
        open.add(log);
    }

    synchronized void remove(OpenLog log) {
        open.remove(log);
    }

    private synchronized List<OpenLog> all() {
        return new ArrayList<>(open);
    }

    /**
     * Closes the changelogs and waits until they have ended. After half of the time, uploads that
     * still run are interrupted once more and deletions that are due later happen at once.
     */
    void closeAll(long boundMillis) throws InterruptedException {
        List<OpenLog> logs = all();
        forEach(logs, OpenLog::close);
        if (!await(logs, boundMillis / 2)) {
            forEach(logs, OpenLog::interruptUploads);
            await(logs, boundMillis / 2);
        }
    }

    private static void forEach(List<OpenLog> logs, Consumer<OpenLog> step) {
        List<Runnable> steps = new ArrayList<>();
        logs.forEach(log -> steps.add(() -> step.accept(log)));
        try {
            Closing.all(steps);
        } catch (Throwable t) {
            // The process ends all the same, and the others still have files to delete.
            LOG.warn("A changelog could not be closed; it may leave files behind", t);
        }
    }

    private static boolean await(List<OpenLog> logs, long millis) throws InterruptedException {
        CompletableFuture<?>[] ends =
                logs.stream().map(OpenLog::ended).toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(ends).get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException tooLong) {
            return false;
        } catch (ExecutionException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
