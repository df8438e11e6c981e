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

package dev.dstl.log.testing;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.ThreadSafeSimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Records every metric by its name. */
public final class RecordedMetrics extends UnregisteredMetricsGroup {

    private static final String PREFIX = "ChangelogStorage.";

    private final Map<String, Object> registered;
    private final String scope;

    private final Set<String> failing = ConcurrentHashMap.newKeySet();

    /** Records nothing yet. */
    public RecordedMetrics() {
        this(new ConcurrentHashMap<>(), "");
    }

    private RecordedMetrics(Map<String, Object> registered, String scope) {
        this.registered = registered;
        this.scope = scope;
    }

    /** Makes the next increment of a counter throw. */
    public void failNext(String name) {
        failing.add(PREFIX + name);
    }

    /** Returns the full names. */
    public Set<String> names() {
        return registered.keySet();
    }

    /** Returns the value of a counter of the changelog storage. */
    public long count(String name) {
        return ((Counter) registered.get(PREFIX + name)).getCount();
    }

    /** Returns the value of a gauge of the changelog storage. */
    public Object value(String name) {
        return ((Gauge<?>) registered.get(PREFIX + name)).getValue();
    }

    /** Returns the largest value in a histogram of the changelog storage. */
    public long max(String name) {
        return histogram(name).getStatistics().getMax();
    }

    /** Returns a histogram of the changelog storage. */
    public Histogram histogram(String name) {
        return (Histogram) registered.get(PREFIX + name);
    }

    /** Names in the group begin with key and value. */
    @Override
    public MetricGroup addGroup(String key, String value) {
        return new RecordedMetrics(registered, scope + key + "=" + value + ".");
    }

    /** Requires a thread-safe counter. */
    @Override
    @SuppressWarnings("unchecked")
    public <C extends Counter> C counter(String name, C counter) {
        Counter recorded = new FaultyCounter(name);
        registered.put(scope + name, recorded);
        return (C) recorded;
    }

    private final class FaultyCounter extends ThreadSafeSimpleCounter {
        private final String name;

        private FaultyCounter(String name) {
            this.name = name;
        }

        @Override
        public void inc() {
            if (failing.remove(name)) {
                throw new IllegalStateException("The counter " + name + " fails once");
            }
            super.inc();
        }
    }

    @Override
    public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
        registered.put(scope + name, gauge);
        return gauge;
    }

    @Override
    public <H extends Histogram> H histogram(String name, H histogram) {
        registered.put(scope + name, histogram);
        return histogram;
    }
}
