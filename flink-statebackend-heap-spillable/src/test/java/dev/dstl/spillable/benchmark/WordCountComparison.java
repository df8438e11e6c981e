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

package dev.dstl.spillable.benchmark;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Measures placements, each in processes of its own, in turns, and prints medians as a table after
 * each round. Arguments: keys, operations per round, rounds, heap of a process as {@code -Xmx}
 * takes it, placements, and the words of a command that limits the process it starts, if any.
 */
public final class WordCountComparison {

    private WordCountComparison() {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[2]);
        List<Placement> placements =
                Arrays.stream(args[4].split(","))
                        .map(Placement::valueOf)
                        .collect(Collectors.toList());
        List<String> limiter = Arrays.asList(args).subList(5, args.length);
        ResultTable table = new ResultTable();
        for (int round = 1; round <= rounds; round++) {
            // Whoever comes first in one round comes last in the next.
            List<Placement> order = new ArrayList<>(placements);
            if (round % 2 == 0) {
                Collections.reverse(order);
            }
            for (Placement placement : order) {
                System.out.printf("round %d of %d: %s%n", round, rounds, placement.label);
                table.add(
                        placement.label,
                        new MeasuredProcess(limiter, args[3], WordCountRun.class)
                                .run(placement.name(), args[0], args[1]));
            }
            print(table, args[0], round);
        }
    }

    private static void print(ResultTable table, String keys, int processes) {
        System.out.printf(
                "%n%s keys, medians of %d processes each, load %.1f, %d CPUs, Java %s%n%n",
                keys,
                processes,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors(),
                Runtime.version());
        table.printHead();
        table.printRatios("uniform, M/s", "uniform");
        table.printRatios("uniform, M per CPU second", "uniform-cpu");
        table.print("uniform, longest pause, ms", "uniform-pause", "%.0f");
        table.printRatios("zipf(0.99), M/s", "zipf");
        table.printRatios("zipf(0.99), M per CPU second", "zipf-cpu");
        table.print("zipf(0.99), longest pause, ms", "zipf-pause", "%.0f");
        table.printRatios("first insertion, M/s", "fill");
        table.printRatios("snapshot, M entries/s", "snapshot");
        table.printRatios("snapshot, M entries per CPU second", "snapshot-cpu");
        table.print("heap bytes per entry", "heap", "%.1f");
    }
}
