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
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Records the names that are registered with it. */
final class RecordingMetricGroup extends UnregisteredMetricsGroup {

    private final Set<String> names = new TreeSet<>();

    Set<String> names() {
        return names;
    }

    @Override
    public Counter counter(String name) {
        names.add(name);
        return super.counter(name);
    }

    @Override
    public <C extends Counter> C counter(String name, C counter) {
        names.add(name);
        return counter;
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        names.add(name);
        return gauge;
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
        names.add(name);
        return histogram;
    }

    @Override
    public <M extends Meter> M meter(String name, M meter) {
        names.add(name);
        return meter;
    }
}
