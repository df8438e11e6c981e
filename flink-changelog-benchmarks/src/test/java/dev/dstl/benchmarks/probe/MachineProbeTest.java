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

import java.time.Duration;
import org.junit.jupiter.api.Test;

class MachineProbeTest {

    @Test
    void busyTime_grows_byNoMoreThanAllProcessorsHad() {
        MachineProbe probe = new MachineProbe();
        Duration before = probe.busyTime();
        long beginNanos = System.nanoTime();

        while (System.nanoTime() - beginNanos < Duration.ofMillis(500).toNanos()) {
            Thread.onSpinWait();
        }

        Duration busy = probe.busyTime().minus(before);
        Duration elapsed = Duration.ofNanos(System.nanoTime() - beginNanos);
        int processors = Runtime.getRuntime().availableProcessors();
        assertThat(busy).isPositive().isLessThan(elapsed.multipliedBy(processors).plusSeconds(1));
    }
}
