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
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class MachineProbeTest {

    @Test
    void busyTime_isWithoutIdlingAndWaiting() throws Exception {
        assertThat(
                        MachineProbe.busyTime(
                                List.of(
                                        "cpu  100 20 3 9000 8000 1 2 50 7 7",
                                        "cpu0 1 1 1 1 1 1 1 1")))
                .isEqualTo(Duration.ofMillis(1760));
    }

    @Test
    void statisticsWithoutProcessors_areAnError() {
        assertThatThrownBy(() -> MachineProbe.busyTime(List.of("intr 1 2 3")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("No line 'cpu'");
    }
}
