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

package dev.dstl.benchmarks.workload;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import java.nio.file.Path;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * Creates a job graph of a workload whose rows are written to files that become visible with the
 * checkpoint that covers them, so that the result directory contains each row exactly once.
 */
public final class WorkloadJob {

    private final Workload workload;
    private final Pace pace;
    private final ProgressBoard board;
    private final Path results;

    /**
     * Creates a job.
     *
     * @param results directory of the result files
     */
    public WorkloadJob(Workload workload, Pace pace, ProgressBoard board, Path results) {
        this.workload = workload;
        this.pace = pace;
        this.board = board;
        this.results = results;
    }

    /**
     * Returns the job graph.
     *
     * @param configuration of the job: parallelism, checkpointing, state backend, restarts
     */
    public JobGraph graph(String name, Configuration configuration) {
        Configuration ofJob = new Configuration(configuration);
        ofJob.set(PipelineOptions.NAME, name);
        ofJob.set(PipelineOptions.GENERIC_TYPES, false);
        StreamExecutionEnvironment environment = new StreamExecutionEnvironment(ofJob);
        FileSink<String> sink =
                FileSink.forRowFormat(
                                new org.apache.flink.core.fs.Path(results.toUri()),
                                new SimpleStringEncoder<String>("UTF-8"))
                        .withBucketAssigner(new BasePathBucketAssigner<>())
                        .withRollingPolicy(OnCheckpointRollingPolicy.build())
                        .build();
        workload.rows(environment, pace, board).sinkTo(sink).name("result").uid("result");
        return environment.getStreamGraph().getJobGraph();
    }
}
