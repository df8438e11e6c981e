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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class BenchOptionsTest {

    @Test
    void withoutOptions_itIsQuick() {
        assertThat(parse().mode()).isEqualTo(Mode.QUICK);
    }

    @Test
    void rounds_areInterleaved_soThatALoadedMachineHitsAllVariants() {
        List<String> plan =
                parse(
                                "--full",
                                "--workload=new-keys",
                                "--variant=builtin-rocksdb",
                                "--variant=dstl-rocksdb")
                        .plan()
                        .stream()
                        .map(PlannedRun::name)
                        .collect(Collectors.toList());

        assertThat(plan)
                .containsExactly(
                        "new-keys-builtin-rocksdb-1",
                        "new-keys-dstl-rocksdb-1",
                        "new-keys-builtin-rocksdb-2",
                        "new-keys-dstl-rocksdb-2",
                        "new-keys-builtin-rocksdb-3",
                        "new-keys-dstl-rocksdb-3");
    }

    @Test
    void quickMeasuresAllWorkloads_smokeOne() {
        assertThat(parse("--quick").plan())
                .extracting(PlannedRun::workload)
                .contains(BenchmarkWorkload.values());
        assertThat(parse("--smoke").plan()).hasSize(2);
    }

    @Test
    void dstlIsNeverMeasuredWithoutBuiltIn_exceptWhereBuiltInHasNothingAlike() {
        for (BenchmarkWorkload workload : BenchmarkWorkload.values()) {
            if (workload == BenchmarkWorkload.WORD_COUNT_LIMITED_HEAP) {
                continue;
            }
            List<String> variants =
                    workload.variants(Mode.QUICK).stream()
                            .map(Variant::id)
                            .collect(Collectors.toList());
            for (Variant variant : workload.variants(Mode.QUICK)) {
                String builtIn = variant.description().builtIn;
                assertThat(variants.contains(builtIn) || builtIn.isEmpty())
                        .as("%s on %s", workload, variant)
                        .isTrue();
            }
        }
    }

    @Test
    void unknownNames_areMisuse_namingWhatThereIs() {
        assertThatThrownBy(() -> parse("--workload=old-keys").check())
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("--workload old-keys is unknown")
                .hasMessageContaining("new-keys, sliding-window");
        assertThatThrownBy(() -> parse("--variant=theirs").check())
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("builtin-rocksdb");
        assertThatThrownBy(() -> parse("--quick", "--full")).isInstanceOf(ParameterException.class);
    }

    @Test
    void keysOfFlink_areReadInOrder() {
        assertThat(parse("-D", "a.b=1", "-D", "c=d=e").configuration())
                .containsExactly(entry("a.b", "1"), entry("c", "d=e"));
        assertThatThrownBy(() -> parse("-D", "a.b")).isInstanceOf(ParameterException.class);
    }

    @Test
    void window_winsOverTheMode() {
        assertThat(parse("--full").window()).hasSeconds(90);
        assertThat(parse("--full", "--window=1020").window()).hasSeconds(1020);
        assertThatThrownBy(() -> parse("--window=0").check())
                .isInstanceOf(ParameterException.class)
                .hasMessage("--window must be 1 to 86400, but is 0.");
    }

    @Test
    void rounds_winOverTheMode() {
        assertThat(parse("--full").rounds()).isEqualTo(3);
        assertThat(parse("--full", "--rounds=1").plan())
                .isNotEmpty()
                .allSatisfy(run -> assertThat(run.round()).isEqualTo(1));
        assertThatThrownBy(() -> parse("--rounds=0").check())
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("--rounds must be 1 to 99, but is 0");
    }

    @Test
    void out_winsOverTheDefault() {
        Path fallback = Paths.get("/fallback");

        assertThat(parse().out(fallback)).isEqualTo(fallback);
        assertThat(parse("--out=/reports").out(fallback)).isEqualTo(Paths.get("/reports"));
    }

    private static BenchOptions parse(String... arguments) {
        BenchOptions options = new BenchOptions();
        new CommandLine(options).parseArgs(arguments);
        return options;
    }
}
