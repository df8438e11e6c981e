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

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.util.InstantiationUtil;

/** Every value is either taken as it is, or refused with its key. */
class SpillConfigBoundsTest {

    private static final List<ConfigOption<Double>> RATIOS =
            Arrays.asList(
                    SpillableOptions.LOAD_START_RATIO,
                    SpillableOptions.LOAD_END_RATIO,
                    SpillableOptions.SPILL_END_RATIO,
                    SpillableOptions.SPILL_START_RATIO);

    @Property
    void fourRatios_areTakenIfTheyRise_andElseAllNamed(
            @ForAll @Size(4) List<@DoubleRange(min = 0.01, max = 0.99) Double> ratios,
            @ForAll boolean sorted) {
        if (sorted) {
            ratios.sort(null);
        }
        Configuration config = new Configuration();
        for (int i = 0; i < 4; i++) {
            config.set(RATIOS.get(i), ratios.get(i));
        }
        boolean rising =
                ratios.get(0) < ratios.get(1)
                        && ratios.get(1) < ratios.get(2)
                        && ratios.get(2) < ratios.get(3);
        if (rising) {
            SpillConfig spill = SpillConfig.of(config);
            assertThat(spill.loadStartRatio()).isEqualTo(ratios.get(0));
            assertThat(spill.loadEndRatio()).isEqualTo(ratios.get(1));
            assertThat(spill.spillEndRatio()).isEqualTo(ratios.get(2));
            assertThat(spill.spillStartRatio()).isEqualTo(ratios.get(3));
        } else {
            assertThatThrownBy(() -> SpillConfig.of(config))
                    .isInstanceOf(IllegalConfigurationException.class)
                    .hasMessageContaining("out of order")
                    .hasMessageContaining(RATIOS.get(0).key() + "' (" + ratios.get(0) + ")")
                    .hasMessageContaining(RATIOS.get(1).key() + "' (" + ratios.get(1) + ")")
                    .hasMessageContaining(RATIOS.get(2).key() + "' (" + ratios.get(2) + ")")
                    .hasMessageContaining(RATIOS.get(3).key() + "' (" + ratios.get(3) + ")");
        }
    }

    @Property
    void aChunkSize_isTakenIfItIsAPowerOfTwoWithinBounds_andElseNamed(
            @ForAll @LongRange(min = 1, max = 4L << 30) long bytes, @ForAll boolean power) {
        long size = power ? Long.highestOneBit(bytes) : bytes;
        Configuration config = new Configuration();
        config.set(SpillableOptions.CHUNK_SIZE, new MemorySize(size));
        boolean allowed = size >= 1 << 20 && size <= 1 << 30 && Long.bitCount(size) == 1;
        if (allowed) {
            assertThat(SpillConfig.of(config).chunkBytes()).isEqualTo((int) size);
        } else {
            assertThatThrownBy(() -> SpillConfig.of(config))
                    .isInstanceOf(IllegalConfigurationException.class)
                    .hasMessageContaining(SpillableOptions.CHUNK_SIZE.key())
                    .hasMessageContaining(size + " bytes");
        }
    }

    @Property
    void anOffHeapSize_isTakenFromOneMebibyteOn(
            @ForAll @LongRange(min = 0, max = 1L << 40) long bytes) {
        Configuration config = new Configuration();
        config.set(SpillableOptions.OFF_HEAP_SIZE, new MemorySize(bytes));
        if (bytes >= SpillConfig.defaults().minOffHeapBytes()) {
            assertThat(SpillConfig.of(config).offHeapBytes()).isEqualTo(bytes);
        } else {
            assertThatThrownBy(() -> SpillConfig.of(config))
                    .isInstanceOf(IllegalConfigurationException.class)
                    .hasMessageContaining(SpillableOptions.OFF_HEAP_SIZE.key());
        }
    }

    @Example
    void aConfiguration_travelsToTheTaskManagers() throws IOException, ClassNotFoundException {
        Configuration config = new Configuration();
        config.set(SpillableOptions.DIRECTORIES, "/a:/b");
        config.set(SpillableOptions.CHUNK_SIZE, MemorySize.ofMebiBytes(2));
        config.set(SpillableOptions.SPILL_SIZE_RATIO, 0.4);

        SpillConfig copy = InstantiationUtil.clone(SpillConfig.of(config));

        assertThat(copy.directories()).containsExactly("/a", "/b");
        assertThat(copy.chunkBytes()).isEqualTo(2 << 20);
        assertThat(copy.spillSizeRatio()).isEqualTo(0.4);
        assertThat(copy.triggerIntervalMillis()).isEqualTo(5000);
        assertThat(copy.defaultOffHeapBytes()).isEqualTo(128L << 20);
    }

    @Example
    void directories_cannotBeChangedFromOutside() {
        assertThatThrownBy(() -> SpillConfig.defaults().directories().add("/c"))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Example
    void everyOption_hasTheKeyPrefixOfTheBackend_once() throws IllegalAccessException {
        Set<String> keys = new HashSet<>();
        for (Field field : SpillableOptions.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers())) {
                String key = ((ConfigOption<?>) field.get(null)).key();
                assertThat(key).startsWith("state.backend.spillable.");
                assertThat(keys.add(key)).as(key).isTrue();
            }
        }
        assertThat(keys).hasSize(12);
    }
}
