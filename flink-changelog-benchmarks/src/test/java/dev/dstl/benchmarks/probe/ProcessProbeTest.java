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

package dev.dstl.benchmarks.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ProcessProbeTest {

    @Test
    void measuresThisProcess() throws Exception {
        ProcessProbe probe = ProcessProbe.of(ProcessHandle.current().pid());

        assertThat(probe.cpuTime())
                .isCloseTo(
                        ProcessHandle.current().info().totalCpuDuration().orElseThrow(),
                        Duration.ofSeconds(2));
        assertThat(probe.residentBytes()).isGreaterThan(1_000_000);
        assertThat(probe.openFiles()).isPositive();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void memoryAndFiles_areThoseOfTheKernel() throws Exception {
        ProcessProbe probe = ProcessProbe.of(ProcessHandle.current().pid());

        assertThat((double) probe.residentBytes()).isCloseTo(residentBytes(), within(50_000_000.0));
        try (Stream<Path> files = Files.list(Paths.get("/proc/self/fd"))) {
            assertThat(probe.openFiles()).isCloseTo(files.count(), within(10L));
        }
    }

    private static double residentBytes() throws IOException {
        return Files.readAllLines(Paths.get("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToDouble(line -> 1024 * Double.parseDouble(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void endedProcess_isAnError() {
        assertThatThrownBy(() -> ProcessProbe.of(Integer.MAX_VALUE).cpuTime())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has ended");
    }
}
