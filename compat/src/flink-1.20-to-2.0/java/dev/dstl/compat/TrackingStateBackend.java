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

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.state.AbstractStateBackend;

/** A state backend with Flink's metrics of state access. Subclasses define thread safety. */
public abstract class TrackingStateBackend extends AbstractStateBackend
        implements AsynchronousStateBackend {

    private static final long serialVersionUID = 1L;

    /** Creates a state backend with Flink's defaults. */
    protected TrackingStateBackend() {}

    /** Creates a copy of {@code original} with the settings of {@code config}. */
    protected TrackingStateBackend(TrackingStateBackend original, ReadableConfig config) {
        latencyTrackingConfigBuilder = original.latencyTrackingConfigBuilder.configure(config);
    }

    /** Returns what a keyed backend records in {@code metrics}. */
    protected final StateTracking tracking(MetricGroup metrics) {
        return new StateTracking(latencyTrackingConfigBuilder.setMetricGroup(metrics).build());
    }
}
