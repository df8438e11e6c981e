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

package dev.dstl.changelog.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MaterializationSettingsTest {

    private final Configuration job = new Configuration();
    private final Configuration cluster = new Configuration();

    @Test
    void defaults_areFlinks() {
        MaterializationSettings settings =
                MaterializationSettings.of(new TaskConfiguration(job, cluster));

        assertThat(settings.periodic()).isTrue();
        assertThat(settings.intervalMillis()).isEqualTo(600_000);
        assertThat(settings.maxFailuresAllowed()).isEqualTo(3);
    }

    @Test
    void job_winsOverCluster() {
        cluster.setString("state.changelog.periodic-materialize.interval", "1 min");
        cluster.setString("state.changelog.max-failures-allowed", "7");
        job.setString("state.changelog.periodic-materialize.interval", "2 s");

        MaterializationSettings settings =
                MaterializationSettings.of(new TaskConfiguration(job, cluster));

        assertThat(settings.intervalMillis()).isEqualTo(2_000);
        assertThat(settings.maxFailuresAllowed()).isEqualTo(7);
    }

    @Test
    void deprecatedSpellings_work() {
        cluster.setString("state.backend.changelog.periodic-materialize.enabled", "false");
        cluster.setString("state.backend.changelog.periodic-materialize.interval", "3 s");
        cluster.setString("state.backend.changelog.max-failures-allowed", "1");

        MaterializationSettings settings =
                MaterializationSettings.of(new TaskConfiguration(job, cluster));

        assertThat(settings.periodic()).isFalse();
        assertThat(settings.intervalMillis()).isEqualTo(3_000);
        assertThat(settings.maxFailuresAllowed()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0 ms", "0"})
    void intervalOfZero_isNotPeriodic(String interval) {
        job.setString("state.changelog.periodic-materialize.interval", interval);

        assertThat(MaterializationSettings.of(new TaskConfiguration(job, cluster)).periodic())
                .isFalse();
    }

    @Test
    void initialDelays_differBetweenSubtasks_andStayBelowTheInterval() {
        MaterializationSettings settings = new MaterializationSettings(true, 1_000, 3);
        Set<Long> delays = new HashSet<>();
        for (int subtask = 0; subtask < 100; subtask++) {
            delays.add(settings.initialDelayMillis("operator-(" + subtask + "/100)"));
        }

        assertThat(delays).hasSizeGreaterThan(50).allMatch(delay -> delay >= 0 && delay < 1_000);
    }

    @Test
    void intervalOfOneMillisecond_startsAtOnce() {
        assertThat(new MaterializationSettings(true, 1, 3).initialDelayMillis("x")).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 'is 0, allowed is 1 to 1000'",
        "1001, 'is 1001, allowed is 1 to 1000'",
        "many, which cannot be read"
    })
    void numberOfUploadThreadsThatCannotBe_isMisuse(String value, String problem) {
        cluster.setString("state.changelog.dstl.materialize.num-threads", value);

        assertThatThrownBy(() -> MaterializationSettings.uploadThreads(cluster))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageContaining("'state.changelog.dstl.materialize.num-threads'")
                .hasMessageContaining(problem);
    }
}
