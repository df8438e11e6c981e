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

package dev.dstl.spillable.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.LoggedLines;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpillConfigTest {

    private static SpillConfig of(String... keysAndValues) {
        Configuration config = new Configuration();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.setString("state.backend.spillable." + keysAndValues[i], keysAndValues[i + 1]);
        }
        return SpillConfig.of(config);
    }

    @Test
    void nothingSet_givesTheDefaults() {
        assertThat(of().chunkBytes()).isEqualTo(64 << 20);
        assertThat(of().directories()).isEmpty();
        assertThat(of().offHeapBytes()).isZero();
    }

    @Test
    void misspeltKey_isRefused_withTheOneThatWasProbablyMeant() {
        assertThatThrownBy(() -> of("chunksize", "32 mb"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessage(
                        "'state.backend.spillable.chunksize' is set to '32 mb', but there is no such"
                                + " key. Did you mean 'state.backend.spillable.chunk-size'? Correct"
                                + " it, or remove it.");
    }

    @ParameterizedTest
    @CsvSource({"65 mb", "512 kb", "2 gb"})
    void chunkSizeThatIsNoPowerOfTwoOrOutOfRange_namesKeyValueAndFix(String size) {
        assertThatThrownBy(() -> of("chunk-size", size))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("state.backend.spillable.chunk-size")
                .hasMessageContaining("power of two")
                .hasMessageContaining("Use for example '64 mb'");
    }

    @Test
    void ratiosOutOfOrder_nameAllFourAndTheirOrder() {
        assertThatThrownBy(() -> of("load-end.ratio", "0.7"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("load-end.ratio' (0.7) < 'state.backend.spillable.spill-end")
                .hasMessageContaining("(0.6)");
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "-0.5", "NaN"})
    void ratioOutsideOfItsRange_namesKeyAndValue(String ratio) {
        assertThatThrownBy(() -> of("spill-start.ratio", ratio))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("state.backend.spillable.spill-start.ratio")
                .hasMessageContaining("between 0 and 1");
    }

    @Test
    void offHeapSizeTooSmall_namesKeyAndFix() {
        assertThatThrownBy(() -> of("off-heap.size", "4 kb"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("state.backend.spillable.off-heap.size")
                .hasMessageContaining("4096")
                .hasMessageContaining("256 mb");
    }

    @Test
    void keysOfThePreviewThatMeanNothingAnyMore_giveOneWarningWithWhatReplacedThem() {
        try (LoggedLines warnings = new LoggedLines(SpillConfig.class, Level.WARN)) {
            of(
                    "gc-time.threshold", "2s",
                    "heap-status.check-interval", "1min",
                    "cancel.checkpoint", "true");

            assertThat(warnings.lines()).hasSize(1);
            assertThat(warnings.lines().get(0))
                    .contains(
                            "'state.backend.spillable.gc-time.threshold' (replaced by"
                                    + " 'state.backend.spillable.spill-start.ratio')")
                    .contains(
                            "'state.backend.spillable.heap-status.check-interval' (replaced by"
                                    + " nothing: the garbage collector reports")
                    .contains("'state.backend.spillable.cancel.checkpoint' (replaced by nothing");
        }
    }

    @Test
    void keysOfThePreviewThatStillMeanSomething_giveNoWarning() {
        try (LoggedLines warnings = new LoggedLines(SpillConfig.class, Level.WARN)) {
            of("chunk-size", "512 mb", "load-start.ratio", "0.1");

            assertThat(warnings.lines()).isEmpty();
        }
    }

    @Test
    void keysOfThePreview_areAccepted() {
        SpillConfig config =
                of(
                        "gc-time.threshold", "2s",
                        "heap-status.check-interval", "1min",
                        "cancel.checkpoint", "true",
                        "trigger-interval", "1min",
                        "load-start.ratio", "0.1",
                        "load-end.ratio", "0.3",
                        "spill-size.ratio", "0.2");

        assertThat(config.triggerIntervalMillis()).isEqualTo(60_000);
        assertThat(config.loadStartRatio()).isEqualTo(0.1);
        assertThat(config.spillSizeRatio()).isEqualTo(0.2);
    }

    @Test
    void directories_areSplitAsFlinkSplitsItsOwn() {
        assertThat(of("directories", "/a, /b:/c").directories()).containsExactly("/a", "/b", "/c");
    }
}
