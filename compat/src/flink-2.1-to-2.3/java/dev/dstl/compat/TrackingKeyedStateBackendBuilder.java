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

import org.apache.flink.runtime.state.AbstractKeyedStateBackendBuilder;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.apache.flink.runtime.state.StreamCompressionDecorator;

/**
 * Builds a {@link TrackingKeyedStateBackend}. Used by the task thread only.
 *
 * @param <K> type of the key
 */
public abstract class TrackingKeyedStateBackendBuilder<K>
        extends AbstractKeyedStateBackendBuilder<K> {

    /** The metrics of state access that the backend will record. */
    protected final StateTracking tracking;

    /** Creates a builder for the task that {@code parameters} describe. */
    protected TrackingKeyedStateBackendBuilder(
            KeyedStateBackendParameters<K> parameters,
            StateTracking tracking,
            StreamCompressionDecorator compression) {
        super(
                parameters.getKvStateRegistry(),
                parameters.getKeySerializer(),
                parameters.getEnv().getUserCodeClassLoader().asClassLoader(),
                parameters.getNumberOfKeyGroups(),
                parameters.getKeyGroupRange(),
                parameters.getEnv().getExecutionConfig(),
                parameters.getTtlTimeProvider(),
                tracking.latency(),
                tracking.size(),
                parameters.getStateHandles(),
                compression,
                parameters.getCancelStreamRegistry());
        this.tracking = tracking;
    }
}
