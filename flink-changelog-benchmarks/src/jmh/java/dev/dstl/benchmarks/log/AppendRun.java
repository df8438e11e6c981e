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

package dev.dstl.benchmarks.log;

import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** One round of {@link AppendBenchmark}: one changelog in a JVM of its own. */
final class AppendRun {

    private AppendRun() {}

    static void measure(MeasuredLog log, ResultTable table) throws RunnerException {
        RunResult result =
                new Runner(
                                new OptionsBuilder()
                                        .include(AppendBenchmark.class.getName() + ".append")
                                        .param("log", log.name())
                                        .forks(1)
                                        .warmupIterations(3)
                                        .warmupTime(TimeValue.seconds(1))
                                        .measurementIterations(4)
                                        .measurementTime(TimeValue.seconds(1))
                                        .addProfiler(GCProfiler.class)
                                        .jvmArgs("-Xmx1g", "-Xms1g")
                                        .verbosity(VerboseMode.SILENT)
                                        .shouldFailOnError(true)
                                        .build())
                        .runSingle();
        Map<String, ? extends Result<?>> secondary = secondary(result);
        table.add(Measure.APPEND_TIME, log, result.getPrimaryResult().getScore());
        double records = score(secondary, "records");
        table.add(Measure.APPEND_CPU, log, score(secondary, "taskThreadCpuNanos") / records);
        table.add(Measure.APPEND_TASK_BYTES, log, score(secondary, "taskThreadBytes") / records);
        table.add(Measure.APPEND_ALL_BYTES, log, score(secondary, "gc.alloc.rate.norm"));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // JMH gives the raw type away
    private static Map<String, ? extends Result<?>> secondary(RunResult result) {
        return (Map) result.getSecondaryResults();
    }

    private static double score(Map<String, ? extends Result<?>> results, String name) {
        Result<?> found = results.get(name);
        if (found == null) {
            throw new IllegalStateException(
                    "JMH reported no " + name + ", only " + results.keySet());
        }
        return found.getScore();
    }
}
