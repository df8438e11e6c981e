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

package dev.dstl.benchmarks.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PhasedRateTest {

    private static final long SECOND = 1_000_000_000L;

    @TempDir Path directory;
    private PhasedRate pace;

    @BeforeEach
    void createPace() {
        pace = new PhasedRate(0, Duration.ofSeconds(10), 0.5, directory.resolve("release"));
    }

    @Test
    void eventHalfWayThroughTheSteadyPart_comesAfterHalfTheTime() {
        assertThat(pace.waitNanos(0, 0, 0.25)).isCloseTo(5 * SECOND, within(1000L));
        assertThat(pace.waitNanos(0, 5 * SECOND, 0.25)).isCloseTo(0, within(1000L));
    }

    @Test
    void restartedSource_goesOnAtTheSameRate() {
        assertThat(pace.waitNanos(0.25, 0, 0.375)).isCloseTo(5 * SECOND / 2, within(1000L));
    }

    @Test
    void releasedSprint_doesNotWait() throws Exception {
        pace.release();

        assertThat(pace.sprintsAt(0.49)).isFalse();
        assertThat(pace.sprintsAt(0.5)).isTrue();
        assertThat(pace.waitNanos(0, 0, 0.9)).isZero();
    }

    @Test
    void sprintThatIsNotReleased_tricklesAtATenthOfTheRate() throws Exception {
        assertThat(pace.sprintsAt(0.9)).isFalse();
        assertThat(pace.waitNanos(0.5, 0, 0.6)).isCloseTo(20 * SECOND, within(1000L));
        assertThat(pace.waitNanos(0.4, 0, 0.6)).isCloseTo(22 * SECOND, within(1000L));

        pace.release();

        assertThat(pace.waitNanos(0.5, 0, 0.6)).isZero();
    }

    @Test
    void preload_doesNotWait_andItsTimeIsNoneOfTheSteadyPart() {
        PhasedRate preloading = preloadingUntilAQuarter();

        assertThat(preloading.waitNanos(0, 3 * SECOND, 0.2)).isZero();
        assertThat(preloading.sprintsAt(0.2)).isFalse();
        assertThat(preloading.waitNanos(0, 8 * SECOND, 0.25)).isZero();
        assertThat(preloading.waitNanos(0, 9 * SECOND, 0.5)).isCloseTo(9 * SECOND, within(1000L));
    }

    @Test
    void sourceRestartedInTheSteadyPart_doesNotWaitForAPreload() {
        assertThat(preloadingUntilAQuarter().waitNanos(0.3, 0, 0.35))
                .isCloseTo(2 * SECOND, within(1000L));
    }

    @Test
    void inputWithoutAnyShareForTheSteadyPart_isRefused() {
        assertThatThrownBy(() -> new PhasedRate(0, Duration.ofSeconds(1), 0, directory))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PhasedRate(0.5, Duration.ofSeconds(1), 0.5, directory))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private PhasedRate preloadingUntilAQuarter() {
        return new PhasedRate(0.25, Duration.ofSeconds(10), 0.5, directory.resolve("release"));
    }
}
