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

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Duration of a benchmark, and how conclusive its results are. */
enum Mode {
    /** Shows that everything works; the results are meaningless. */
    SMOKE(2, 5, 2, 1, null),
    /** Ten minutes on two processors, the build included. */
    QUICK(7, 14, 6, 1, Duration.ofSeconds(580)),
    /** The settings of targets that were published. */
    FULL(35, 90, 30, 3, null);

    private final Duration warmUp;
    private final Duration window;
    private final Duration materializationInterval;
    private final int rounds;
    private final Duration budget;

    Mode(
            int warmUpSeconds,
            int windowSeconds,
            int materializationSeconds,
            int rounds,
            Duration budget) {
        this.warmUp = Duration.ofSeconds(warmUpSeconds);
        this.window = Duration.ofSeconds(windowSeconds);
        this.materializationInterval = Duration.ofSeconds(materializationSeconds);
        this.rounds = rounds;
        this.budget = budget;
    }

    /** Returns the option on the command line. */
    String option() {
        return "--" + name().toLowerCase(Locale.ROOT);
    }

    /** Returns the time from the first record to the start of the window. */
    Duration warmUp() {
        return warmUp;
    }

    /** Returns the duration of the measured window. */
    Duration window() {
        return window;
    }

    Duration materializationInterval() {
        return materializationInterval;
    }

    /** Returns the default workloads. */
    List<BenchmarkWorkload> workloads() {
        return this == SMOKE
                ? List.of(BenchmarkWorkload.NEW_KEYS)
                : List.of(BenchmarkWorkload.values());
    }

    int rounds() {
        return rounds;
    }

    /**
     * Returns the time since the start of the build by which runs must be expected to end, or they
     * are left out.
     */
    Optional<Duration> budget() {
        return Optional.ofNullable(budget);
    }
}
