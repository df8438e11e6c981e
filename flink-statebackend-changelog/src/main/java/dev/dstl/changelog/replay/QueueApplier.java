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
import dev.dstl.log.api.LogRecord;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.runtime.state.PriorityComparable;
import org.apache.flink.runtime.state.heap.HeapPriorityQueueElement;
import org.apache.flink.util.CloseableIterator;

/** Applies the records of a timer queue. */
final class QueueApplier<
                T extends HeapPriorityQueueElement & PriorityComparable<? super T> & Keyed<?>>
        extends StateApplier {

    private final RestoredQueue<T> restored;
    private final TypeSerializer<T> elementSerializer;
    private final int numberOfKeyGroups;

    @SuppressWarnings("unchecked") // only timers are ever registered as a queue
    QueueApplier(
            RestoredRegistration registration, RestoredQueue<T> restored, int numberOfKeyGroups) {
        super(registration);
        this.restored = restored;
        this.elementSerializer = (TypeSerializer<T>) registration.valueSerializer();
        this.numberOfKeyGroups = numberOfKeyGroups;
    }

    @Override
    void apply(LogRecord record) throws Exception {
        T element = element(record);
        switch (record.kind()) {
            case PUT:
                restored.queue().add(element);
                return;
            case DELETE:
                restored.queue().remove(element);
                return;
            default:
                throw unexpectedKind(record);
        }
    }

    @Override
    void check(LogRecord record) throws CorruptLogException {
        element(record);
    }

    private T element(LogRecord record) throws CorruptLogException {
        recordKey(record);
        T element = read(elementSerializer, record);
        expectEnd(record);
        return element;
    }

    @Override
    @SuppressWarnings({"unchecked", "try"}) // a queue's name decides its type; Flink's close()
    void copyAll(RestoredStates<?> source) throws Exception {
        RestoredQueue<T> from = (RestoredQueue<T>) source.queue(registration().name());
        try (CloseableIterator<T> timers = from.queue().iterator()) {
            while (timers.hasNext()) {
                restored.queue().add(timers.next());
            }
        }
    }

    /** The key group of the change may be wrong, so the key group of every element is computed. */
    @Override
    void apply(BuiltInChange change) throws Exception {
        switch (change.operation()) {
            case ADD_ELEMENT:
                int count = change.readCount(registration());
                for (int i = 0; i < count; i++) {
                    T added = change.read(elementSerializer, registration());
                    if (isWanted(added, change)) {
                        restored.queue().add(added);
                    }
                }
                break;
            case REMOVE_ELEMENT:
                T removed = change.read(elementSerializer, registration());
                if (isWanted(removed, change)) {
                    restored.queue().remove(removed);
                }
                break;
            default:
                throw change.unexpected(registration());
        }
        change.expectEnd(registration());
    }

    private boolean isWanted(T element, BuiltInChange change) {
        return change.wantedKeyGroups()
                .contains(
                        KeyGroupRangeAssignment.assignToKeyGroup(
                                ((Keyed<?>) element).getKey(), numberOfKeyGroups));
    }
}
