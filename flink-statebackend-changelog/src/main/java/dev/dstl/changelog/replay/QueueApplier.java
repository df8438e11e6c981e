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
import dev.dstl.log.record.LogRecord;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.Keyed;

/** Applies the records of a queue of timers. */
final class QueueApplier<T> extends StateApplier {

    private final RestoredQueue<T> restored;
    private final TypeSerializer<T> elementSerializer;
    private final int numberOfKeyGroups;

    QueueApplier(
            RestoredRegistration registration,
            RestoredQueue<T> restored,
            TypeSerializer<T> elementSerializer,
            int numberOfKeyGroups) {
        super(registration);
        this.numberOfKeyGroups = numberOfKeyGroups;
        this.restored = restored;
        this.elementSerializer = elementSerializer;
    }

    @Override
    void apply(LogRecord record) throws Exception {
        identity(record);
        T element = read(elementSerializer, record);
        expectEnd(record);
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

    /** What the change says about its key group may be wrong, so every element is asked. */
    @Override
    void apply(StockChange change) throws Exception {
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

    private boolean isWanted(T element, StockChange change) {
        return change.wantedKeyGroups()
                .contains(
                        KeyGroupRangeAssignment.assignToKeyGroup(
                                ((Keyed<?>) element).getKey(), numberOfKeyGroups));
    }
}
