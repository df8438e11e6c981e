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

package dev.dstl.compat;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.query.TaskKvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.InternalKeyContext;
import org.apache.flink.runtime.state.StreamCompressionDecorator;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/**
 * A keyed backend that holds state itself. Used by the task thread only.
 *
 * @param <K> type of the key
 */
public abstract class TrackingKeyedStateBackend<K> extends AbstractKeyedStateBackend<K> {

    /** Creates a backend from the values of a {@link TrackingKeyedStateBackendBuilder}. */
    protected TrackingKeyedStateBackend(
            TaskKvStateRegistry kvStateRegistry,
            TypeSerializer<K> keySerializer,
            ClassLoader userCodeClassLoader,
            ExecutionConfig executionConfig,
            TtlTimeProvider ttlTimeProvider,
            StateTracking tracking,
            CloseableRegistry cancelStreamRegistry,
            StreamCompressionDecorator compression,
            InternalKeyContext<K> keyContext) {
        super(
                kvStateRegistry,
                keySerializer,
                userCodeClassLoader,
                executionConfig,
                ttlTimeProvider,
                tracking.latency(),
                tracking.size(),
                cancelStreamRegistry,
                compression,
                keyContext);
    }

    /** Called before each change of the key. */
    protected abstract void keySelected();

    @Override
    public void setCurrentKey(K newKey) {
        keySelected();
        super.setCurrentKey(newKey);
    }

    @Override
    public void setCurrentKeyAndKeyGroup(K newKey, int newKeyGroup) {
        keySelected();
        super.setCurrentKeyAndKeyGroup(newKey, newKeyGroup);
    }
}
