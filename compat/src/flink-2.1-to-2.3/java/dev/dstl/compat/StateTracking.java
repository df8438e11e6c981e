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

import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.metrics.LatencyTrackingStateConfig;
import org.apache.flink.runtime.state.metrics.MetricsTrackingStateFactory;
import org.apache.flink.runtime.state.metrics.SizeTrackingStateConfig;

/** The metrics of state access that a backend records: latencies and sizes. Immutable. */
public final class StateTracking {

    private final LatencyTrackingStateConfig latency;
    private final SizeTrackingStateConfig size;

    StateTracking(LatencyTrackingStateConfig latency, SizeTrackingStateConfig size) {
        this.latency = latency;
        this.size = size;
    }

    LatencyTrackingStateConfig latency() {
        return latency;
    }

    SizeTrackingStateConfig size() {
        return size;
    }

    /**
     * Wraps {@code state} with the metrics that {@code backend} is configured to record.
     *
     * @return {@code state} itself if there are none
     * @throws Exception if a serializer cannot be obtained
     */
    public static <K, N> InternalKvState<K, N, ?> track(
            InternalKvState<K, N, ?> state,
            StateDescriptor<?, ?> descriptor,
            AbstractKeyedStateBackend<K> backend)
            throws Exception {
        return MetricsTrackingStateFactory.createStateAndWrapWithMetricsTrackingIfEnabled(
                state,
                backend,
                descriptor,
                backend.getLatencyTrackingStateConfig(),
                backend.getSizeTrackingStateConfig());
    }
}
