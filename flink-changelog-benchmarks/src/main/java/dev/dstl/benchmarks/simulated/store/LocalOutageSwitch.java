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

import java.util.Optional;

/** Switches outages of a store that only this process uses. */
public final class LocalOutageSwitch implements OutageSwitch {

    private final Object lock = new Object();
    private Outage current;

    @Override
    public void begin(Outage outage) {
        synchronized (lock) {
            current = outage;
            lock.notifyAll();
        }
    }

    @Override
    public void end() {
        synchronized (lock) {
            current = null;
            lock.notifyAll();
        }
    }

    @Override
    public Optional<Outage> awaitAnswer() throws InterruptedException {
        synchronized (lock) {
            while (current == Outage.HANGING) {
                lock.wait();
            }
            return Optional.ofNullable(current);
        }
    }
}
