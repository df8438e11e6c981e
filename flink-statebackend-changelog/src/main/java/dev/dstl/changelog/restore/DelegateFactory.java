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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.sorting.ReplayOrder;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;

/**
 * Creates delegates. Used by the task thread.
 *
 * @param <K> type of the key
 */
public interface DelegateFactory<K> {

    /**
     * Creates a delegate.
     *
     * @param keyGroups key groups of the task, or some of them if the delegate is only read
     * @param keySerializer key serializer of the job, which the delegate may reconfigure for the
     *     snapshots
     * @param snapshots snapshots to restore
     * @param onlyRead whether the delegate is disposed of before the task begins; must not change
     *     what other delegates of the task have registered then
     * @return owned by the caller
     * @throws Exception if a snapshot cannot be restored; nothing is left open then
     */
    AbstractKeyedStateBackend<K> create(
            KeyGroupRange keyGroups,
            TypeSerializer<K> keySerializer,
            List<KeyedStateHandle> snapshots,
            boolean onlyRead)
            throws Exception;

    /**
     * Returns whether the delegates download the files of incremental snapshots before they use
     * them, and keep no more of the snapshots than the lists of shared files.
     */
    default boolean download() {
        return false;
    }

    /** Returns the order in which the delegates take the records of a changelog. */
    default ReplayOrder replayOrder() {
        return ReplayOrder.AS_WRITTEN;
    }

    /**
     * Returns whether the delegates find timers by {@code equals}, whatever the order they take
     * their other records in.
     */
    default boolean timersOnHeap() {
        return true;
    }
}
