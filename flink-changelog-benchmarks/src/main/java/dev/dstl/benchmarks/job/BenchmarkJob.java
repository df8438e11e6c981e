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
import dev.dstl.benchmarks.source.Pace;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A keyed job that never ends and reads the same input in every run. */
public interface BenchmarkJob {

    /** Adds input and operators to the environment, with stable operator ids. */
    void define(StreamExecutionEnvironment environment, Pace pace, ProgressBoard board);
}
