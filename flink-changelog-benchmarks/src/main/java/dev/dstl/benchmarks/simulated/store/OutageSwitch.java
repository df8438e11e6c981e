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

package dev.dstl.benchmarks.simulated.store;

import java.io.IOException;
import java.util.Optional;

/** Starts and ends outages of a store. Thread-safe. */
public interface OutageSwitch {

    /** Starts an outage: requests fail or hang, including those in flight. */
    void begin(Outage outage) throws IOException;

    /** Ends the outage. No effect if there is none. */
    void end() throws IOException;

    /**
     * Returns the current outage, if there is one. Waits for the end of an outage in which requests
     * hang.
     *
     * @throws InterruptedException if the wait is interrupted
     */
    Optional<Outage> awaitAnswer() throws IOException, InterruptedException;
}
