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

package dev.dstl.benchmarks.measurement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.benchmarks.comparison.SampleResults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchmarkResultsTest {

    @TempDir Path directory;

    @Test
    void whatIsWritten_canBeRead() throws Exception {
        BenchmarkResults results = SampleResults.twoRounds();
        results.leftOut.add("one");
        results.runs.get(0).handles.logStorages.add("dstl");
        Path file = directory.resolve("results.json");
        Path again = directory.resolve("again.json");

        results.write(file);
        BenchmarkResults.read(file).write(again);

        assertThat(again).hasSameTextualContentAs(file);
        assertThat(BenchmarkResults.read(file).runs.get(0).checkpoints).hasSize(10);
        assertThat(BenchmarkResults.read(file).runs.get(0).handles.logStorages)
                .containsExactly("dstl");
    }

    @Test
    void merged_numbersTheRoundsOfEachWorkloadAndVariantAnew() throws Exception {
        BenchmarkResults first = SampleResults.twoRounds();
        first.settings.put(BenchmarkResults.ROUNDS, "2");
        BenchmarkResults second = SampleResults.empty();
        second.settings.put(BenchmarkResults.ROUNDS, "1");
        second.command = "./bench --full";
        second.runs.add(SampleResults.run("dstl-rocksdb", 1, 1, 100));

        BenchmarkResults merged = BenchmarkResults.merge(List.of(first, second));

        assertThat(merged.runs)
                .extracting(run -> run.variant + " " + run.round)
                .containsExactly(
                        "plain-rocksdb 1",
                        "builtin-rocksdb 1",
                        "dstl-rocksdb 1",
                        "plain-rocksdb 2",
                        "builtin-rocksdb 2",
                        "dstl-rocksdb 2",
                        "dstl-rocksdb 3");
        assertThat(merged.settings).containsEntry(BenchmarkResults.ROUNDS, "3");
        assertThat(merged.command).isEqualTo("./bench --quick\n./bench --full");
    }

    @Test
    void fileOfSomethingElse_isNamedInTheError() throws Exception {
        Path file = Files.writeString(directory.resolve("other.json"), "{\"runs\": 3}");

        assertThatThrownBy(() -> BenchmarkResults.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("does not hold results of ./bench");
    }
}
