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

import dev.dstl.changelog.mutation.RestoredRegistration;
import dev.dstl.changelog.schema.SchemaChoice;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.StateSchema;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;

/**
 * The delegate's queue of a name. Delegates may give a new object with each registration, whose
 * caches know nothing of changes made through an older one: all who write to a queue share the
 * newest. Belongs to the task thread.
 *
 * @param <T> type of the timers
 */
final class RestoredQueue<
        T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>> {

    private final AbstractKeyedStateBackend<?> delegate;
    @Nullable private SchemaVersion<T> elements;
    @Nullable private KeyGroupedInternalPriorityQueue<T> queue;

    /**
     * @param delegate where the queue lives
     * @param schema in which version, null if it does not hold the queue yet
     */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    RestoredQueue(AbstractKeyedStateBackend<?> delegate, @Nullable StateSchema schema) {
        this.delegate = delegate;
        this.elements = schema == null ? null : (SchemaVersion<T>) schema.values();
    }

    /** The newest object, once timers are expected. */
    KeyGroupedInternalPriorityQueue<T> queue() {
        return queue;
    }

    /** Gets ready for timers that {@code registration} reads. Timers are never migrated. */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    void expect(RestoredRegistration registration) {
        SchemaVersion<T> added = (SchemaVersion<T>) registration.schema().values();
        if (elements == null) {
            register(registration.name(), added.present());
            return;
        }
        TypeSerializer<T> serializer = SchemaChoice.between(elements, added).replacement();
        if (serializer != null) {
            // Delegates do not reconfigure the serializer of a queue.
            register(registration.name(), elements.to(serializer).serializer());
        } else if (queue == null) {
            register(registration.name(), elements.present());
        }
    }

    private void register(String name, TypeSerializer<T> serializer) {
        queue = delegate.create(name, serializer, true);
        elements = SchemaVersion.of(serializer);
    }
}
