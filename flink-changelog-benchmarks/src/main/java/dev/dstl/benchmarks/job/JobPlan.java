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

package dev.dstl.benchmarks.job;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.ConstantRate;
import dev.dstl.benchmarks.source.Pace;
import java.util.OptionalDouble;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job and its input rate. Immutable. */
public final class JobPlan {

    private final BenchmarkJob job;
    private final OptionalDouble recordsPerSecond;

    private JobPlan(BenchmarkJob job, OptionalDouble recordsPerSecond) {
        this.job = job;
        this.recordsPerSecond = recordsPerSecond;
    }

    /** Returns a plan with a fixed rate, in total of all sources. */
    public static JobPlan atRate(BenchmarkJob job, double recordsPerSecond) {
        return new JobPlan(job, OptionalDouble.of(recordsPerSecond));
    }

    /** Returns a plan without a rate limit. */
    public static JobPlan atMaximumRate(BenchmarkJob job) {
        return new JobPlan(job, OptionalDouble.empty());
    }

    /**
     * Returns the job graph.
     *
     * @param configuration of the job: parallelism, checkpointing, state backend, restarts
     * @param board where the tasks report their progress
     */
    public JobGraph graph(String name, Configuration configuration, ProgressBoard board) {
        Configuration ofJob = new Configuration(configuration);
        ofJob.set(PipelineOptions.NAME, name);
        ofJob.set(PipelineOptions.GENERIC_TYPES, false);
        StreamExecutionEnvironment environment = new StreamExecutionEnvironment(ofJob);
        job.define(environment, pace(), board);
        return environment.getStreamGraph().getJobGraph();
    }

    private Pace pace() {
        return recordsPerSecond.isPresent()
                ? ConstantRate.of(GeneratedInput.RECORDS, recordsPerSecond.getAsDouble())
                : ConstantRate.unlimited();
    }
}
