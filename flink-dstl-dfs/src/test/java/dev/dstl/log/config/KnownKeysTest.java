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

package dev.dstl.log.config;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KnownKeysTest {

    @ParameterizedTest
    @CsvSource({
        "state.changelog.dstl.dfs.base-pth, state.changelog.dstl.dfs.base-path",
        "state.changelog.dstl.dfs.basepath, state.changelog.dstl.dfs.base-path",
        "state.changelog.dstl.upload.timeout, state.changelog.dstl.dfs.upload.timeout",
        "state.changelog.dstl.dfs.uplaod.num-threads, state.changelog.dstl.dfs.upload.num-threads",
        "state.changelog.dstl.dfs.upload.max-age, state.changelog.dstl.upload.max-age",
        "state.changelog.dstl.inline-treshold, state.changelog.dstl.inline-threshold",
        "dstl.dfs.upload.max-attemps, dstl.dfs.upload.max-attempts",
        "state.changelog.dtsl.dfs.base-path, state.changelog.dstl.dfs.base-path",
        "state.changelog.dfs.base-path, state.changelog.dstl.dfs.base-path",
        "state.backend.changelog.dstl.dfs.base-path, state.changelog.dstl.dfs.base-path",
        "state.backend.dstl.dfs.base-path, state.changelog.dstl.dfs.base-path",
        "state.changelog.enable, state.changelog.enabled",
        "state.changelog.storge, state.changelog.storage",
    })
    void misspeltKey_isRefused_withTheOneThatWasProbablyMeant(String misspelt, String meant) {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-path", "file:/tmp/log");
        configuration.setString(misspelt, "7");
        assertThatThrownBy(() -> DstlSettings.from(configuration))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessage(
                        "'%s' is set to '7', but there is no such key. Did you mean '%s'? Correct"
                                + " it, or remove it.",
                        misspelt, meant);
    }

    @Test
    void severalMisspeltKeys_areNamedTogether() {
        Configuration configuration = new Configuration();
        configuration.setString("state.changelog.dstl.dfs.base-paht", "a");
        configuration.setString("state.changelog.dstl.inlinethreshold", "b");
        assertThatThrownBy(() -> KnownKeys.ofAllModules().check(configuration))
                .hasMessageContaining("'state.changelog.dstl.dfs.base-paht' is set to 'a'")
                .hasMessageContaining("'state.changelog.dstl.inlinethreshold' is set to 'b'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "state.changelog.dstl.dfs.download.local-cache.idle-timeout-ms",
                "dstl.dfs.download.local-cache.idle-timeout-ms",
                "state.changelog.dstl.upload.hedge.quantile",
                "state.changelog.periodic-materialize.interval",
                "state.backend.changelog.enabled",
                "metrics.reporter.dstl.class",
                "my.own.key",
            })
    void keysOfFlinkAndOfOthers_areLeftAlone(String key) {
        Configuration configuration = new Configuration();
        configuration.setString(key, "10 min");
        assertThatCode(() -> KnownKeys.ofAllModules().check(configuration))
                .doesNotThrowAnyException();
    }
}
