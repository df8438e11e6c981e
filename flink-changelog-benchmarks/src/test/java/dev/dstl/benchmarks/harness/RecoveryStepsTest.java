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

package dev.dstl.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.cluster.TaskStart;
import dev.dstl.benchmarks.measurement.RecoverySample;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecoveryStepsTest {

    @Test
    void eachStepEndsWithItsLastTask() {
        RecoverySample sample =
                RecoverySteps.between(
                        1000,
                        List.of(new TaskStart(3000, 3100, 3200), new TaskStart(3050, 3150, 4500)),
                        4700);

        assertThat(sample.redeployMillis).isEqualTo(2050);
        assertThat(sample.startMillis).isEqualTo(100);
        assertThat(sample.restoreMillis).isEqualTo(1350);
        assertThat(sample.firstRecordMillis).isEqualTo(200);
        assertThat(sample.totalMillis()).isEqualTo(3700);
    }

    @Test
    void firstRecordThatCameBeforeTheJobManagerKnew_leavesNoNegativeStep() {
        RecoverySample sample =
                RecoverySteps.between(1000, List.of(new TaskStart(3000, 3100, 3600)), 3500);

        assertThat(sample.restoreMillis).isEqualTo(400);
        assertThat(sample.firstRecordMillis).isZero();
        assertThat(sample.totalMillis()).isEqualTo(2500);
    }
}
