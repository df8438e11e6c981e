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

package dev.dstl.spillable;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Records the gauges that a backend registers. */
public final class Gauges extends UnregisteredMetricsGroup {

    private final Map<String, Gauge<?>> gauges = new ConcurrentHashMap<>();

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        gauges.put(name, gauge);
        return gauge;
    }

    @Override
    public MetricGroup addGroup(String name) {
        return this;
    }

    /** Returns the current value; {@code none} if there is no such gauge. */
    public Object value(String name) {
        Gauge<?> gauge = gauges.get(name);
        return gauge == null ? "none" : gauge.getValue();
    }
}
