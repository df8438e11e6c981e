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

package dev.dstl.log.simulation.store;

import dev.dstl.log.simulation.schedule.Fiber;
import java.io.IOException;
import java.io.InterruptedIOException;

/** How a fiber waits for the store. */
final class Waiting {

    private Waiting() {}

    static void forMillis(SimulatedStore store, long millis) throws IOException {
        if (millis > 0) {
            Fiber.Pause pause = new Fiber.Pause();
            store.later(millis, "answers", () -> pause.end("got an answer"));
            on(pause);
        }
    }

    /**
     * Until somebody ends the pause.
     *
     * @throws InterruptedIOException if the thread is interrupted
     */
    static void on(Fiber.Pause pause) throws IOException {
        try {
            Fiber.current().pause(pause);
        } catch (InterruptedException e) {
            InterruptedIOException failure = new InterruptedIOException("Interrupted");
            failure.initCause(e);
            throw failure;
        }
    }
}
