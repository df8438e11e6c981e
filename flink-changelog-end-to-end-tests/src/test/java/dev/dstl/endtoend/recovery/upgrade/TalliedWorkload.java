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

package dev.dstl.endtoend.recovery.upgrade;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import dev.dstl.benchmarks.workload.Workload;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A workload whose rows pass through an operator with state of versioned classes. */
public final class TalliedWorkload implements Workload {

    private final Workload workload;

    public TalliedWorkload(Workload workload) {
        this.workload = workload;
    }

    @Override
    public DataStream<String> rows(
            StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        return workload.rows(environment, pace, board)
                .keyBy(new TallyKey(), Types.INT)
                .process(new TallyFunction(), Types.STRING)
                .name("tallies")
                .uid("tallies");
    }
}
