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

import dev.dstl.changelog.state.LoggedStateRegistry;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.FullSnapshotResources;
import org.apache.flink.runtime.state.RegisteredPriorityQueueStateBackendMetaInfo;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;

/**
 * Registers the timer queues that a restored delegate contains, before the job requests them.
 * Needed where the changelog must contain all timers, including those of queues that the job has
 * not registered yet. Stateless; used by the task thread.
 */
public final class RestoredQueues {

    private RestoredQueues() {}

    /**
     * Registers the queues of {@code delegate} with {@code states}.
     *
     * @throws Exception if the queues of the delegate cannot be determined
     */
    public static <K> void register(
            AbstractKeyedStateBackend<K> delegate, LoggedStateRegistry<K> states) throws Exception {
        FullSnapshotResources<K> content = delegate.savepoint().getSnapshotResources();
        try {
            for (StateMetaInfoSnapshot state : content.getMetaInfoSnapshots()) {
                if (state.getBackendStateType() == BackendStateType.PRIORITY_QUEUE) {
                    states.createQueue(state.getName(), elementSerializer(state), true);
                }
            }
        } finally {
            content.release();
        }
    }

    @SuppressWarnings("unchecked") // Flink keeps nothing but timers in queues.
    private static <K, N> TypeSerializer<TimerHeapInternalTimer<K, N>> elementSerializer(
            StateMetaInfoSnapshot state) {
        return (TypeSerializer<TimerHeapInternalTimer<K, N>>)
                (TypeSerializer<?>)
                        new RegisteredPriorityQueueStateBackendMetaInfo<>(state)
                                .getElementSerializer();
    }
}
