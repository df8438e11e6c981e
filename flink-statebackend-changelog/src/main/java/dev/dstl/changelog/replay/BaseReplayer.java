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
 * Copies a base into a delegate that already contains another base with other schema versions. The
 * base is restored separately, with its own serializers, and copied entry by entry, as if it were a
 * changelog. Used by the task thread.
 *
 * @param <K> type of the key
 */
public final class BaseReplayer<K> {

    private final RestoredStates<K> target;

    /** Creates a replayer that writes to the delegate of {@code target}. */
    public BaseReplayer(RestoredStates<K> target) {
        this.target = target;
    }

    /**
     * Copies all entries of {@code base}.
     *
     * @param base only read; stays the caller's
     * @param schema schema versions of the base
     * @throws Exception if its serializers are incompatible with those of the target, or a delegate
     *     fails
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
        // so that the key of the last entry is not mistaken for one that the job set
        target.delegate().getKeyContext().setCurrentKey(keyBefore);
    }
}
