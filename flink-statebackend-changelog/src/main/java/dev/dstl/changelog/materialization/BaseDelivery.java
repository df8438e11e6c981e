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

import java.util.concurrent.atomic.AtomicInteger;

/** A base on its way to the JobManager in one checkpoint. Thread safe. */
public final class BaseDelivery {

    private final AtomicInteger deliveries;

    BaseDelivery(AtomicInteger deliveries) {
        this.deliveries = deliveries;
        deliveries.incrementAndGet();
    }

    /** The checkpoint will never be sent. To be called once at most. */
    public void dropped() {
        deliveries.decrementAndGet();
    }
}
