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
import dev.dstl.changelog.schema.SchemaHistory;
import dev.dstl.changelog.schema.SnapshotSchema;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;

/**
 * Copies a base into a delegate that already holds another base in other schema versions. The base
 * is restored alone, with its own serializers, and copied entry by entry as if it were a log.
 * Belongs to the task thread.
 *
 * @param <K> type of the key
 */
public final class BaseReplayer<K> {

    private final RestoredStates<K> target;

    /** Writes to the delegate of {@code target}. */
    public BaseReplayer(RestoredStates<K> target) {
        this.target = target;
    }

    /**
     * Copies all that {@code base} holds.
     *
     * @param base only read; stays the caller's
     * @param schema what it says of itself
     * @throws Exception if its serializers are incompatible with those of the target, or one of the
     *     delegates fails
     */
    public void replay(AbstractKeyedStateBackend<K> base, SnapshotSchema schema) throws Exception {
        K keyBefore = target.delegate().getKeyContext().getCurrentKey();
        RestoredStates<K> source = new RestoredStates<>(base, schema, new SchemaHistory());
        for (StateMetaInfoSnapshot state : schema.states()) {
            RestoredRegistration registration =
                    RestoredRegistration.ofSnapshot(state, schema.keys());
            new StateApplierFactory<>(source).create(registration);
            new StateApplierFactory<>(target).create(registration).copyAll(source);
        }
        // so that nobody takes the key of the last entry for one that the job set
        target.delegate().getKeyContext().setCurrentKey(keyBefore);
    }
}
