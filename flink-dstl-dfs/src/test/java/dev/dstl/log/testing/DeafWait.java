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

import java.util.concurrent.CountDownLatch;

/** Waits as a client that ignores interrupts does. */
public final class DeafWait {

    private DeafWait() {}

    /** Waits for an event, whether interrupted or not. */
    public static void on(CountDownLatch event) {
        boolean happened = false;
        while (!happened) {
            try {
                event.await();
                happened = true;
            } catch (InterruptedException deaf) {
                Thread.onSpinWait();
            }
        }
    }
}
