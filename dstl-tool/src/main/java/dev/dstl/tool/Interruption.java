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

package dev.dstl.tool;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command that changes files end in an orderly way when its process is interrupted, as with
 * Ctrl-C: the process waits until the command has printed what it did.
 */
final class Interruption implements AutoCloseable {

    /** Longer than a request to a store takes; {@link Main} waits longer. */
    private static final long PATIENCE_SECONDS = 20;

    /** Process without which the tool runs unnoticed, as a number; not set if there is none. */
    static final String LAUNCHER = "dstl.tool.launcher";

    private final Optional<Long> launcherId = Optional.ofNullable(Long.getLong(LAUNCHER));
    private final Optional<ProcessHandle> launcher = launcherId.flatMap(ProcessHandle::of);

    private final CountDownLatch printed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupted, "dstl-interruption");
    private volatile boolean requested;

    /** Starts to wait for an interruption. */
    void watch() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Runs while the process ends, beside the command. */
    void interrupted() {
        requested = true;
        try {
            boolean unused = printed.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether the command shall end now, also because its launcher was killed. */
    boolean isRequested() {
        return requested
                || launcher.map(process -> !process.isAlive()).orElse(launcherId.isPresent());
    }

    /** Lets the process end. */
    @Override
    public void close() {
        printed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            return;
        }
    }
}
