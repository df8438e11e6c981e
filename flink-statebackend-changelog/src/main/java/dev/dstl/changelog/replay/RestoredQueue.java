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

package dev.dstl.changelog.replay;

import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;

/**
 * The delegate's queue of a name. Delegates may give a new object with each registration, whose
 * caches know nothing of changes made through an older one: all appliers of a name share the
 * newest.
 *
 * @param <T> type of the timers
 */
final class RestoredQueue<T> {

    private KeyGroupedInternalPriorityQueue<T> queue;

    RestoredQueue(KeyGroupedInternalPriorityQueue<T> queue) {
        this.queue = queue;
    }

    KeyGroupedInternalPriorityQueue<T> queue() {
        return queue;
    }

    void replace(KeyGroupedInternalPriorityQueue<T> newest) {
        queue = newest;
    }
}
