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

package dev.dstl.log.writer;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * The deliveries of a changelog, each retained as long as its handle is referenced. Thread-safe.
 */
final class Deliveries {

    private final Map<ChangelogStateHandleStreamImpl, Delivery> deliveries =
            Collections.synchronizedMap(new WeakHashMap<>());

    void add(ChangelogStateHandleStreamImpl handle, Delivery delivery) {
        deliveries.put(handle, delivery);
    }

    /** Reports that a handle will never be sent to the JobManager. Called without a lock held. */
    void dropped(ChangelogStateHandleStreamImpl handle) {
        Delivery delivery = deliveries.remove(handle);
        if (delivery != null) {
            delivery.drop();
        }
    }
}
