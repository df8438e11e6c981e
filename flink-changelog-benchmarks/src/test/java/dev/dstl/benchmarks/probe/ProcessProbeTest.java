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

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ProcessProbeTest {

    @Test
    @EnabledOnOs(OS.LINUX)
    void looksAtThisProcess() throws Exception {
        ProcessProbe probe = ProcessProbe.of(ProcessHandle.current().pid());

        assertThat(ProcessProbe.isPossible()).isTrue();
        assertThat(probe.processorTime()).isPositive();
        assertThat(probe.residentBytes()).isGreaterThan(1_000_000);
        assertThat(probe.openFiles()).isPositive();
    }

    @Test
    void residentMemory_isInKibibytes() throws Exception {
        assertThat(
                        ProcessProbe.residentBytes(
                                List.of("VmPeak:\t  900 kB", "VmRSS:\t    12 kB", "Threads:\t4")))
                .isEqualTo(12 * 1024);
    }

    @Test
    void statusWithoutMemory_isAnError() {
        assertThatThrownBy(() -> ProcessProbe.residentBytes(List.of("Name:\tzombie")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("VmRSS");
    }

    @Test
    void deadProcess_isAnError() {
        assertThatThrownBy(() -> ProcessProbe.of(Integer.MAX_VALUE).processorTime())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("gone");
    }
}
