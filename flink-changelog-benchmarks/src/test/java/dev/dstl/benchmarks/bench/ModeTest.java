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

import java.time.Duration;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ModeTest {

    @Test
    void quick_fitsIntoTenMinutesWithItsBuild() {
        BenchOptions options = new BenchOptions();
        new CommandLine(options).parseArgs("--quick");
        long build = 60;
        long seconds =
                build
                        + options.plan().size()
                                * Bench.expected(Mode.QUICK, Mode.QUICK.window()).toSeconds();

        assertThat(Mode.QUICK.budget())
                .hasValueSatisfying(
                        budget -> assertThat(budget).isLessThan(Duration.ofMinutes(10)));
        assertThat(seconds).isLessThanOrEqualTo(Mode.QUICK.budget().get().toSeconds());
    }

    @Test
    void windows_seeAMaterialization() {
        for (Mode mode : Mode.values()) {
            assertThat(mode.window()).isGreaterThan(mode.materializationInterval());
        }
    }
}
