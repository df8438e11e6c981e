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

import dev.dstl.changelog.record.RestoredRegistration;
import dev.dstl.changelog.schema.SchemaChoice;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.StateSchema;
import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.util.CloseableIterator;

/**
 * A timer queue of the delegate. A delegate may return a new object for each registration, whose
 * caches miss changes made through an older object, so all writers share the newest. Used by the
 * task thread.
 *
 * @param <T> type of the timers
 */
final class RestoredQueue<
        T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>> {

    private final AbstractKeyedStateBackend<?> delegate;
    @Nullable private SchemaVersion<T> elements;
    @Nullable private KeyGroupedInternalPriorityQueue<T> queue;
    @Nullable private TypeSerializer<T> serializer;
    private String name;
    private int version;
    private boolean outdated;

    /**
     * Creates a queue.
     *
     * @param delegate contains the queue
     * @param schema schema version of the queue; null if the delegate does not contain it yet
     */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    RestoredQueue(AbstractKeyedStateBackend<?> delegate, @Nullable StateSchema schema) {
        this.delegate = delegate;
        this.elements = schema == null ? null : (SchemaVersion<T>) schema.values();
    }

    /** Returns the newest queue object; requires {@link #expect}. */
    KeyGroupedInternalPriorityQueue<T> queue() {
        if (outdated) {
            outdated = false;
            queue = delegate.create(name, serializer, true);
        }
        return queue;
    }

    /** Returns a number that changes when the serializer of the queue changes. */
    int version() {
        return version;
    }

    /**
     * Returns whether the bytes of timers that {@code registration} reads are those of the
     * delegate.
     */
    boolean takesBytesOf(RestoredRegistration registration) {
        return elements.hasSameBytesAs(registration.schema().values());
    }

    /**
     * Writes all buffered timers to the delegate's store. Others may write to the store until the
     * next call of {@link #queue()}.
     *
     * @throws IOException if the delegate fails
     */
    @SuppressWarnings("try") // Flink's interface declares close() with Exception.
    void giveWay() throws IOException {
        if (outdated) {
            return;
        }
        outdated = true;
        try (CloseableIterator<T> timers = queue.iterator()) {
            // Before it returns the first timer, the delegate writes what it has buffered.
            boolean unused = timers.hasNext();
        } catch (Exception e) {
            throw new IOException("Timers of '" + name + "' cannot be stored", e);
        }
    }

    /** Prepares the queue for timers that {@code registration} reads. Timers are never migrated. */
    @SuppressWarnings("unchecked") // the delegate refuses a name with other types
    void expect(RestoredRegistration registration) {
        SchemaVersion<T> added = (SchemaVersion<T>) registration.schema().values();
        if (elements == null) {
            register(registration.name(), added.present());
            return;
        }
        TypeSerializer<T> replacement = SchemaChoice.between(elements, added).replacement();
        if (replacement != null) {
            // Delegates do not reconfigure the serializer of a queue.
            register(registration.name(), elements.to(replacement).serializer());
        } else if (queue == null) {
            register(registration.name(), elements.present());
        }
    }

    private void register(String newName, TypeSerializer<T> newSerializer) {
        name = newName;
        serializer = newSerializer;
        queue = delegate.create(newName, newSerializer, true);
        elements = SchemaVersion.fixed(newSerializer);
        outdated = false;
        version++;
    }
}
