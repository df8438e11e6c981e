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

package dev.dstl.changelog.metrics;

import java.util.Collection;
import javax.annotation.Nullable;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle;

/** Sizes of the latest checkpoint of one keyed backend, in bytes. Thread-safe. */
public final class CheckpointMetrics {

    private static final String PREFIX = "ChangelogStateBackend.";

    /** Total size of the base. */
    public static final String LAST_FULL_SIZE_OF_MATERIALIZATION =
            PREFIX + "lastFullSizeOfMaterialization";

    /** Size that the base added when it was taken. */
    public static final String LAST_INC_SIZE_OF_MATERIALIZATION =
            PREFIX + "lastIncSizeOfMaterialization";

    /** Total size of the changelog. */
    public static final String LAST_FULL_SIZE_OF_NON_MATERIALIZATION =
            PREFIX + "lastFullSizeOfNonMaterialization";

    /** Size of the changelog that is new in the checkpoint. */
    public static final String LAST_INC_SIZE_OF_NON_MATERIALIZATION =
            PREFIX + "lastIncSizeOfNonMaterialization";

    private volatile long baseBytes;
    private volatile long newBaseBytes;
    private volatile long logBytes;
    private volatile long newLogBytes;

    /** Registers the metrics in the operator's {@code group}. */
    public CheckpointMetrics(MetricGroup group) {
        group.gauge(LAST_FULL_SIZE_OF_MATERIALIZATION, () -> baseBytes);
        group.gauge(LAST_INC_SIZE_OF_MATERIALIZATION, () -> newBaseBytes);
        group.gauge(LAST_FULL_SIZE_OF_NON_MATERIALIZATION, () -> logBytes);
        group.gauge(LAST_INC_SIZE_OF_NON_MATERIALIZATION, () -> newLogBytes);
    }

    /** Updates the metrics; null for a checkpoint without state. */
    public void checkpointAssembled(@Nullable ChangelogStateBackendHandle handle) {
        if (handle == null) {
            baseBytes = 0;
            newBaseBytes = 0;
            logBytes = 0;
            newLogBytes = 0;
            return;
        }
        baseBytes = stateBytes(handle.getMaterializedStateHandles());
        newBaseBytes = checkpointedBytes(handle.getMaterializedStateHandles());
        logBytes = stateBytes(handle.getNonMaterializedStateHandles());
        newLogBytes = checkpointedBytes(handle.getNonMaterializedStateHandles());
    }

    private static long stateBytes(Collection<? extends KeyedStateHandle> handles) {
        return handles.stream().mapToLong(KeyedStateHandle::getStateSize).sum();
    }

    private static long checkpointedBytes(Collection<? extends KeyedStateHandle> handles) {
        return handles.stream().mapToLong(KeyedStateHandle::getCheckpointedSize).sum();
    }
}
