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

import java.util.Arrays;
import java.util.Collections;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;

/**
 * Counts each of many words twice and checks every count, in a JVM of its own: what a heap, a
 * collector, a disk or a kill do to a backend can only be seen there. Everything lies in one key
 * group, so moving whole key groups would not do.
 *
 * <p>Arguments: {@code spillable} or {@code hashmap}, the number of words, then {@code key=value}
 * of the configuration. Says {@code counted} after the first half and {@code correct ...} at the
 * end.
 */
public final class CountingProcess {

    private CountingProcess() {}

    public static void main(String[] args) throws Exception {
        int words = Integer.parseInt(args[1]);
        Configuration config = new Configuration();
        for (String setting : Arrays.asList(args).subList(2, args.length)) {
            int separator = setting.indexOf('=');
            config.setString(setting.substring(0, separator), setting.substring(separator + 1));
        }
        Gauges gauges = new Gauges();
        AbstractKeyedStateBackend<String> backend =
                KeyedBackends.create(
                        backend(args[0], config),
                        StringSerializer.INSTANCE,
                        1,
                        new KeyGroupRange(0, 0),
                        Collections.emptyList(),
                        gauges);
        ValueState<Long> count =
                backend.getPartitionedState(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        new ValueStateDescriptor<>("count", Types.LONG));
        long wrong = count(backend, count, words, 0);
        System.out.println("counted");
        wrong += count(backend, count, words, 1);
        if (wrong > 0) {
            throw new IllegalStateException(wrong + " counts are wrong");
        }
        // In one piece, because the log is written to the same place.
        System.out.println(
                String.format(
                        "correct spilledEntries=%s refusedSpillsTotal=%s longestPauseMillis=%s",
                        gauges.value("spilledEntries"),
                        gauges.value("refusedSpillsTotal"),
                        gauges.value("longestPauseMillis")));
        backend.dispose();
        backend.close();
    }

    /** Returns how many words had not been counted as often as expected. */
    private static long count(
            AbstractKeyedStateBackend<String> backend,
            ValueState<Long> state,
            int words,
            long expected)
            throws Exception {
        long wrong = 0;
        for (int i = 0; i < words; i++) {
            backend.setCurrentKey(String.format("%016x", i * 0x9E3779B97F4A7C15L));
            Long before = state.value();
            wrong += (before == null ? 0 : before) == expected ? 0 : 1;
            state.update(expected + 1);
        }
        return wrong;
    }

    private static StateBackend backend(String name, Configuration config) {
        switch (name) {
            case "spillable":
                return new SpillableStateBackendFactory()
                        .createFromConfig(config, CountingProcess.class.getClassLoader());
            case "hashmap":
                return new HashMapStateBackend();
            default:
                throw new IllegalArgumentException("Unknown backend " + name);
        }
    }
}
