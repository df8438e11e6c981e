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

package dev.dstl.changelog.sorting;

import java.util.Arrays;
import java.util.concurrent.Executor;

/** A thread that reads a changelog, and shows when it waits for memory. Started once. */
final class ReadingThread implements Executor {

    private Thread thread;

    @Override
    public void execute(Runnable reading) {
        thread = new Thread(reading, "reading");
        thread.start();
    }

    /** Waits until everything is read, or reading waits until what was read is applied. */
    void awaitRest() throws InterruptedException {
        while (thread.isAlive() && !waitsForMemory()) {
            Thread.sleep(1);
        }
    }

    /** Waits until the thread has ended. */
    void awaitEnd() throws InterruptedException {
        thread.join();
    }

    private boolean waitsForMemory() {
        return thread.getState() == Thread.State.WAITING
                && Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(SortRun.class.getName()));
    }
}
