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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;

/**
 * Measures restores of one snapshot, each in a process of its own, in turns, and prints medians.
 * Arguments: keys, rounds, heap that holds all state, heap that holds about a third of it.
 */
public final class RestoreComparison {

    private final ResultTable table = new ResultTable();
    private final Path snapshot;
    private final String keys;

    private RestoreComparison(Path snapshot, String keys) {
        this.snapshot = snapshot;
        this.keys = keys;
    }

    public static void main(String[] args) throws Exception {
        Path root = Files.createDirectories(Paths.get(System.getProperty("java.io.tmpdir")));
        RestoreComparison comparison =
                new RestoreComparison(Files.createTempDirectory(root, "restore"), args[0]);
        comparison.process("write", args[2]);
        for (int round = 1; round <= Integer.parseInt(args[1]); round++) {
            comparison.restore(Placement.HASHMAP, args[2]);
            comparison.restore(Placement.ON_HEAP, args[2]);
            comparison.restore(Placement.ON_HEAP, args[3]);
        }
        comparison.table.printHead();
        comparison.table.print("reading the file, ms", "read", "%.0f");
        comparison.table.printRatios("restore, ms", "restore");
        comparison.table.printRatios("CPU time of its thread, ms", "restore-cpu");
        comparison.delete();
    }

    private void restore(Placement placement, String heap) throws Exception {
        String backend = placement == Placement.HASHMAP ? placement.label : "spillable";
        table.add(backend + ", heap of " + heap, process(placement.name(), heap));
    }

    private java.util.Map<String, java.util.List<Double>> process(String what, String heap)
            throws Exception {
        return new MeasuredProcess(Collections.emptyList(), heap, RestoreRun.class)
                .run(what, snapshot.toString(), keys);
    }

    private void delete() throws IOException {
        org.apache.flink.util.FileUtils.deleteDirectory(snapshot.toFile());
    }
}
