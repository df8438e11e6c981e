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

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.flink.util.FileUtils;

/**
 * Measures restores of a snapshot of Flink's heap and of an incremental checkpoint of spilled
 * state, each in a process of its own, in turns, and prints medians. Arguments: keys, rounds, heap
 * that holds all state, heap that holds about a third of it.
 */
public final class RestoreComparison {

    private final ResultTable table = new ResultTable();
    private final String keys;

    private RestoreComparison(String keys) {
        this.keys = keys;
    }

    public static void main(String[] args) throws Exception {
        new RestoreComparison(args[0]).measure(Integer.parseInt(args[1]), args[2], args[3]);
    }

    private void measure(int rounds, String ampleHeap, String smallHeap) throws Exception {
        Path root = Files.createDirectories(Paths.get(System.getProperty("java.io.tmpdir")));
        Path full = Files.createTempDirectory(root, "restore");
        Path incremental = Files.createTempDirectory(root, "restore");
        process("write", full, ampleHeap);
        process("write-incremental", incremental, ampleHeap);
        for (int round = 1; round <= rounds; round++) {
            restore("HashMap", Placement.HASHMAP, full, ampleHeap);
            restore("spillable", Placement.ON_HEAP, full, ampleHeap);
            restore("spillable", Placement.ON_HEAP, full, smallHeap);
            restore("spillable, incremental", Placement.ON_HEAP, incremental, smallHeap);
        }
        table.printHead();
        table.print("reading the file, ms", "read", "%.0f");
        table.printRatios("restore, ms", "restore");
        table.printRatios("CPU time of its thread, ms", "restore-cpu");
        FileUtils.deleteDirectory(full.toFile());
        FileUtils.deleteDirectory(incremental.toFile());
    }

    private void restore(String column, Placement placement, Path snapshot, String heap)
            throws Exception {
        table.add(column + ", heap of " + heap, process(placement.name(), snapshot, heap));
    }

    private Map<String, List<Double>> process(String what, Path snapshot, String heap)
            throws Exception {
        return new MeasuredProcess(Collections.emptyList(), heap, RestoreRun.class)
                .run(what, snapshot.toString(), keys);
    }
}
