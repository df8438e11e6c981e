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

package dev.dstl.log.testing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** Queues work until a test runs it, on the test's thread. */
public final class ManualExecutor implements Executor {

    private final ArrayDeque<Runnable> work = new ArrayDeque<>();

    @Override
    public void execute(Runnable task) {
        work.add(task);
    }

    /** Number of waiting tasks. */
    public int size() {
        return work.size();
    }

    /** Removes and returns the waiting tasks. */
    public List<Runnable> takeAll() {
        List<Runnable> taken = new ArrayList<>(work);
        work.clear();
        return taken;
    }

    /** Runs the oldest waiting task. */
    public void runNext() {
        work.remove().run();
    }

    /** Runs all waiting tasks, and those they submit. */
    public void runAll() {
        for (Runnable next = work.poll(); next != null; next = work.poll()) {
            next.run();
        }
    }
}
