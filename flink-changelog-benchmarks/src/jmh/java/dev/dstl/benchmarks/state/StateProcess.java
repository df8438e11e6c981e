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

package dev.dstl.benchmarks.state;

import dev.dstl.benchmarks.harness.Changelog;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The process of one changelog in one round: {@code StateProcess CHANGELOG}. Only that changelog is
 * on its class path, and on that of the JVMs that JMH starts from it, one per benchmark. Prints a
 * line for each measure.
 */
public final class StateProcess {

    static final String WALL = "ns";
    static final String CPU = "ns of CPU";
    static final String ALLOCATED = "B allocated";
    static final String REPLAY = "replay of a change";

    private StateProcess() {}

    public static void main(String[] arguments) throws RunnerException {
        Changelog changelog = Changelog.valueOf(arguments[0]);
        for (RunResult result : run(StateAccessBenchmark.class, changelog)) {
            Map<String, ? extends Result<?>> secondary = secondary(result);
            double accesses = secondary.get("records").getScore();
            String state = result.getParams().getParam("state").toLowerCase(Locale.ROOT);
            print(result, state, WALL, result.getPrimaryResult().getScore());
            print(result, state, CPU, secondary.get("taskThreadCpuNanos").getScore() / accesses);
            print(result, state, ALLOCATED, secondary.get("taskThreadBytes").getScore() / accesses);
        }
        if (changelog != Changelog.NONE) {
            for (RunResult result : run(ReplayBenchmark.class, changelog)) {
                print(
                        result,
                        REPLAY,
                        WALL,
                        result.getPrimaryResult().getStatistics().getPercentile(50));
            }
        }
    }

    private static Collection<RunResult> run(Class<?> benchmark, Changelog changelog)
            throws RunnerException {
        ChainedOptionsBuilder options =
                new OptionsBuilder()
                        .include(benchmark.getName() + "\\.")
                        .param("changelog", changelog.name())
                        .forks(1)
                        .jvmArgs("-Xmx2g", "-Xms2g")
                        .verbosity(VerboseMode.SILENT)
                        .shouldFailOnError(true);
        if (benchmark == ReplayBenchmark.class) {
            options.warmupIterations(4).measurementIterations(7);
        } else {
            options.warmupIterations(3)
                    .warmupTime(TimeValue.seconds(1))
                    .measurementIterations(4)
                    .measurementTime(TimeValue.seconds(1));
        }
        return new Runner(options.build()).run();
    }

    private static void print(RunResult result, String subject, String unit, double value) {
        Delegate delegate = Delegate.valueOf(result.getParams().getParam("delegate"));
        System.out.println(new StateMeasure(subject, delegate, unit).line(value));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // JMH gives the raw type away
    private static Map<String, ? extends Result<?>> secondary(RunResult result) {
        return (Map) result.getSecondaryResults();
    }
}
