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

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Measures every kind of state on placements, each in processes of its own, in turns, and prints
 * medians. Arguments: keys, rounds, heap of a process as {@code -Xmx} takes it, placements.
 */
public final class StateKindComparison {

    private StateKindComparison() {}

    public static void main(String[] args) throws Exception {
        List<Placement> placements =
                Arrays.stream(args[3].split(","))
                        .map(Placement::valueOf)
                        .collect(Collectors.toList());
        ResultTable table = new ResultTable();
        for (int round = 1; round <= Integer.parseInt(args[1]); round++) {
            for (Placement placement : placements) {
                table.add(
                        placement.label,
                        new MeasuredProcess(Collections.emptyList(), args[2], StateKindRun.class)
                                .run(placement.name(), args[0]));
            }
        }
        table.printHead();
        for (StateKind kind : StateKind.values()) {
            String name = kind.name().toLowerCase(Locale.ROOT);
            table.printRatios(name + ", ns of CPU", name);
            table.print(name + ", bytes allocated", name + "-bytes", "%.0f");
        }
    }
}
