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

package dev.dstl.benchmarks.bench;

/** One run of a benchmark: a workload, a variant, a round. Immutable. */
final class PlannedRun {

    private final BenchmarkWorkload workload;
    private final Variant variant;
    private final int round;

    PlannedRun(BenchmarkWorkload workload, Variant variant, int round) {
        this.workload = workload;
        this.variant = variant;
        this.round = round;
    }

    BenchmarkWorkload workload() {
        return workload;
    }

    Variant variant() {
        return variant;
    }

    /** Returns the number of the round, from 1. */
    int round() {
        return round;
    }

    /** Returns a name for files. */
    String name() {
        return workload.id() + "-" + variant.id() + "-" + round;
    }

    @Override
    public String toString() {
        return workload.id() + " on " + variant.id() + ", round " + round;
    }
}
