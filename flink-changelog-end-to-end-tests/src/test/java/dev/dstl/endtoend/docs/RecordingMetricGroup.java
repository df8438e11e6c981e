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

package dev.dstl.endtoend.docs;

import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.Meter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Records the names that are registered with it. */
final class RecordingMetricGroup extends UnregisteredMetricsGroup {

    private final Set<String> names;
    private final String scope;

    RecordingMetricGroup() {
        this(new TreeSet<>(), "");
    }

    private RecordingMetricGroup(Set<String> names, String scope) {
        this.names = names;
        this.scope = scope;
    }

    Set<String> names() {
        return names;
    }

    /** Reporters that know labels export the value as one, and the key in the name. */
    @Override
    public MetricGroup addGroup(String key, String value) {
        return new RecordingMetricGroup(names, scope + key + ".");
    }

    @Override
    public Counter counter(String name) {
        names.add(scope + name);
        return super.counter(name);
    }

    @Override
    public <C extends Counter> C counter(String name, C counter) {
        names.add(scope + name);
        return counter;
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        names.add(scope + name);
        return gauge;
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
        names.add(scope + name);
        return histogram;
    }

    @Override
    public <M extends Meter> M meter(String name, M meter) {
        names.add(scope + name);
        return meter;
    }
}
