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

import dev.dstl.benchmarks.harness.Changelog;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VariantTest {

    private static final Duration INTERVAL = Duration.ofSeconds(30);

    @ParameterizedTest
    @EnumSource(Variant.class)
    void namesSayWhoseChangelogItIs(Variant variant) {
        switch (variant.changelog()) {
            case NONE:
                assertThat(variant.id()).matches("(plain|rare|ample)-.*");
                assertThat(keys(variant)).doesNotContain("changelog");
                break;
            case BUILT_IN:
                assertThat(variant.id()).startsWith("builtin-");
                assertThat(keys(variant)).contains("state.changelog.storage=filesystem");
                break;
            case DSTL:
                assertThat(variant.id()).startsWith("dstl-");
                assertThat(keys(variant)).contains("state.changelog.storage=dstl");
                break;
        }
    }

    @ParameterizedTest
    @EnumSource(Variant.class)
    void logAndCheckpointsLieInTheStore(Variant variant) {
        assertThat(keys(variant)).contains("execution.checkpointing.dir=sim://run/checkpoints");
        if (variant.changelog() != Changelog.NONE) {
            assertThat(keys(variant)).contains("dstl.dfs.base-path=sim://run/log");
        }
    }

    @Test
    void builtInAndDstl_differInTheStorageAlone() {
        assertThat(keys(Variant.BUILTIN_ROCKSDB).replace("=filesystem", "=dstl"))
                .isEqualTo(keys(Variant.DSTL_ROCKSDB));
        assertThat(keys(Variant.BUILTIN_HASHMAP).replace("=filesystem", "=dstl"))
                .isEqualTo(keys(Variant.DSTL_HASHMAP));
    }

    @Test
    void rareCheckpoints_comeAsOftenAsMaterializations() {
        assertThat(keys(Variant.RARE_ROCKSDB)).contains("execution.checkpointing.interval=30 s");
        assertThat(keys(Variant.PLAIN_ROCKSDB)).contains("execution.checkpointing.interval=1 s");
    }

    @Test
    void spilledState_isSetAgainstRocksDb() {
        assertThat(Variant.DSTL_SPILLABLE.description().plain).isEqualTo("plain-rocksdb");
        assertThat(Variant.DSTL_SPILLABLE.description().builtIn).isEqualTo("builtin-rocksdb");
        assertThat(Variant.DSTL_HASHMAP.description().plain).isEqualTo("plain-hashmap");
    }

    @Test
    void spilledState_isAlsoSetAgainstAHeapThatHasRoomForIt_withRareCheckpoints() {
        MemorySize planned = MemorySize.ofMebiBytes(256);

        assertThat(Variant.DSTL_SPILLABLE.description().rare).isEqualTo("ample-hashmap");
        assertThat(Variant.RARE_SPILLABLE.description().rare).isEqualTo("ample-hashmap");
        assertThat(Variant.DSTL_SPILLABLE.heap(planned)).isEqualTo(planned);
        assertThat(Variant.RARE_SPILLABLE.heap(planned)).isEqualTo(planned);
        assertThat(keys(Variant.RARE_SPILLABLE)).contains("execution.checkpointing.interval=30 s");
        assertThat(Variant.AMPLE_HASHMAP.heap(planned)).isEqualTo(MemorySize.ofMebiBytes(2048));
        assertThat(keys(Variant.AMPLE_HASHMAP)).contains("execution.checkpointing.interval=30 s");
    }

    private static String keys(Variant variant) {
        Configuration configuration = variant.configuration("sim://run", INTERVAL);
        StringBuilder text = new StringBuilder();
        configuration.keySet().stream()
                .sorted()
                .forEach(
                        key ->
                                text.append(key)
                                        .append('=')
                                        .append(configuration.getString(key, ""))
                                        .append('\n'));
        return text.toString();
    }
}
