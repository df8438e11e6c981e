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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DstlSettingsTest {

    private static final String PREFIX = "state.changelog.dstl.dfs.";

    @Test
    void missingBasePath_saysWhichKeyAndShowsAnExample() {
        assertThatThrownBy(() -> DstlSettings.from(new Configuration()))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessage(
                        "The changelog is switched on, but 'state.changelog.dstl.dfs.base-path' is"
                                + " not set: set it in the configuration of the TaskManagers to a"
                                + " directory that JobManager and TaskManagers can reach, for"
                                + " example s3://bucket/changelog.");
    }

    @Test
    void lessThanAMillisecond_isNotNever() {
        assertThat(settings("batch.persist-delay", "900 micro").lingerMillis()).isEqualTo(1);
        assertThat(settings("batch.persist-delay", "0").lingerMillis()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"log", "./log", "../shared/log", "~/log"})
    void relativeBasePath_isRefused(String path) {
        assertThatThrownBy(() -> settings("base-path", path))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessage(
                        "'state.changelog.dstl.dfs.base-path' is '%s', a relative path: each process"
                                + " would look for it in a directory of its own. Set it to an"
                                + " absolute one that JobManager and TaskManagers can reach, for"
                                + " example s3://bucket/changelog.",
                        path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/log",
                "file:/log",
                "file:///log",
                "s3://bucket",
                "s3://bucket/log",
                "hdfs:///log",
                "s3://bucket/_entropy_/log"
            })
    void absoluteBasePath_isTaken(String path) {
        assertThat(settings("base-path", path).basePath()).isEqualTo(new Path(path));
    }

    @Test
    void basePathThatIsNoPath_saysSo() {
        assertThatThrownBy(() -> settings("base-path", ":"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("'state.changelog.dstl.dfs.base-path' is ':'")
                .hasMessageContaining("which is not a path");
    }

    @Test
    void defaults_areFlinksExceptWhereDescribed() {
        DstlSettings settings = DstlSettings.from(minimal());
        assertThat(settings.basePath()).isEqualTo(new Path("file:/tmp/log"));
        assertThat(settings.compressionEnabled()).isTrue();
        assertThat(settings.sealThresholdBytes()).isEqualTo(5 << 20);
        assertThat(settings.lingerMillis()).isEqualTo(10);
        assertThat(settings.rollThresholdBytes()).isEqualTo(10 << 20);
        assertThat(settings.uploadBufferBytes()).isEqualTo(1 << 20);
        assertThat(settings.uploadThreads()).isEqualTo(10);
        assertThat(settings.discardThreads()).isEqualTo(1);
        assertThat(settings.maxInFlightBytes()).isEqualTo(100 << 20);
        assertThat(settings.retryMode()).isEqualTo(RetryMode.UNTIL_SUCCESS);
        assertThat(settings.attemptTimeoutMillis()).isEqualTo(1000);
        assertThat(settings.maxFailedAttempts()).isEqualTo(3);
        assertThat(settings.retryDelayMillis()).isEqualTo(500);
        assertThat(settings.maxRetryDelayMillis()).isEqualTo(10_000);
        assertThat(settings.maxSlowAttempts()).isEqualTo(20);
        assertThat(settings.maxAgeMillis()).isEqualTo(5_000);
        assertThat(settings.inlineThresholdBytes()).isEqualTo(20 << 10);
        assertThat(settings.hedgeBudget()).isEqualTo(0.05);
        assertThat(settings.hedgeQuantile()).isEqualTo(0.98);
        assertThat(settings.minHedgeDelayMillis()).isEqualTo(50);
    }

    @Test
    void inlineThreshold_isFlinksUnlessOursIsSet() {
        Configuration configuration =
                minimal().set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, new MemorySize(3));
        assertThat(DstlSettings.from(configuration).inlineThresholdBytes()).isEqualTo(3);
        configuration.set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO);
        assertThat(DstlSettings.from(configuration).inlineThresholdBytes()).isZero();
    }

    @Test
    void hedgesThatBeginAfterTheTimeout_areRefused_unlessNobodyAskedForThem() {
        Configuration configuration =
                minimal()
                        .set(DstlOptions.UPLOAD_TIMEOUT, Duration.ofMillis(40))
                        .set(DstlOptions.HEDGE_MIN_DELAY, Duration.ofMillis(41));
        assertThatThrownBy(() -> DstlSettings.from(configuration))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageStartingWith(
                        "'state.changelog.dstl.upload.hedge.min-delay' is 41 ms and"
                                + " 'state.changelog.dstl.dfs.upload.timeout' is 40 ms");
        configuration.removeConfig(DstlOptions.HEDGE_MIN_DELAY);
        assertThat(DstlSettings.from(configuration).attemptTimeoutMillis()).isEqualTo(40);
    }

    @ParameterizedTest
    @CsvSource({
        "upload.hedge.budget, 1.1, 0.0 to 1.0",
        "upload.hedge.quantile, 0.4, 0.5 to 0.999",
        "upload.hedge.quantile, 1.0, 0.5 to 0.999",
    })
    void hedgingOutOfRange_isRefused(String name, String value, String range) {
        Configuration configuration = minimal();
        configuration.setString("state.changelog.dstl." + name, value);
        assertThatThrownBy(() -> DstlSettings.from(configuration))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageStartingWith(
                        "'state.changelog.dstl.%s' is %s, allowed is %s.", name, value, range);
    }

    @Test
    void manySubtasks_haveLessInlineEach_soThatAllTogetherStayBelow8Megabytes() {
        DstlSettings settings = DstlSettings.from(minimal());
        assertThat(settings.inlineThresholdBytes(1)).isEqualTo(20 << 10);
        assertThat(settings.inlineThresholdBytes(300)).isEqualTo(20 << 10);
        for (int parallelism : new int[] {1_000, 4_000, 32_768}) {
            assertThat(parallelism * settings.inlineThresholdBytes(parallelism))
                    .isBetween(6_000_000L, 8_000_000L);
        }
    }

    @Test
    void inlineThresholdThatWouldBloatTheMetadata_isRefused() {
        assertThatThrownBy(
                        () ->
                                DstlSettings.from(
                                        minimal()
                                                .set(
                                                        DstlOptions.INLINE_THRESHOLD,
                                                        MemorySize.ofMebiBytes(2))))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageStartingWith(
                        "'state.changelog.dstl.inline-threshold' is 2 mb, allowed is 0 bytes to 1"
                                + " mb.");
    }

    @Test
    void everyKeyOfFlink_isAlsoReadInItsDeprecatedSpelling() {
        Configuration configuration = new Configuration();
        configuration.setString("dstl.dfs.base-path", "file:/tmp/old");
        configuration.setString("dstl.dfs.compression.enabled", "false");
        configuration.setString("dstl.dfs.preemptive-persist-threshold", "1kb");
        configuration.setString("dstl.dfs.batch.persist-delay", "11 ms");
        configuration.setString("dstl.dfs.batch.persist-size-threshold", "2kb");
        configuration.setString("dstl.dfs.upload.buffer-size", "3kb");
        configuration.setString("dstl.dfs.upload.num-threads", "4");
        configuration.setString("dstl.dfs.discard.num-threads", "6");
        configuration.setString("dstl.dfs.upload.max-in-flight", "7kb");
        configuration.setString("dstl.dfs.upload.retry-policy", "none");
        configuration.setString("dstl.dfs.upload.timeout", "8 s");
        configuration.setString("dstl.dfs.upload.max-attempts", "9");
        configuration.setString("dstl.dfs.upload.next-attempt-delay", "12 s");

        DstlSettings settings = DstlSettings.from(configuration);

        assertThat(settings.basePath()).isEqualTo(new Path("file:/tmp/old"));
        assertThat(settings.compressionEnabled()).isFalse();
        assertThat(settings.sealThresholdBytes()).isEqualTo(1 << 10);
        assertThat(settings.lingerMillis()).isEqualTo(11);
        assertThat(settings.rollThresholdBytes()).isEqualTo(2 << 10);
        assertThat(settings.uploadBufferBytes()).isEqualTo(3 << 10);
        assertThat(settings.uploadThreads()).isEqualTo(4);
        assertThat(settings.discardThreads()).isEqualTo(6);
        assertThat(settings.maxInFlightBytes()).isEqualTo(7 << 10);
        assertThat(settings.retryMode()).isEqualTo(RetryMode.NONE);
        assertThat(settings.attemptTimeoutMillis()).isEqualTo(8_000);
        assertThat(settings.maxFailedAttempts()).isEqualTo(9);
        assertThat(settings.retryDelayMillis()).isEqualTo(12_000);
        assertThat(settings.maxRetryDelayMillis())
                .as("a longer first delay raises the bound")
                .isEqualTo(12_000);
    }

    @Test
    void maxAttemptsWithoutPolicy_meansFixed() {
        assertThat(settings("upload.max-attempts", "5").retryMode()).isEqualTo(RetryMode.FIXED);
    }

    @Test
    void policyIsSpelledInAnyCase() {
        assertThat(settings("upload.retry-policy", "Fixed").retryMode()).isEqualTo(RetryMode.FIXED);
    }

    @Test
    void unknownPolicy_listsTheKnownOnes() {
        assertThatThrownBy(() -> settings("upload.retry-policy", "forever"))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessage(
                        "'state.changelog.dstl.dfs.upload.retry-policy' is 'forever', allowed is"
                                + " one of none, fixed, until-success. Set it to one of these or"
                                + " remove it for the default, until-success.");
    }

    @Test
    void segmentThatIsNeverRolledBeforeTasksStop_namesBothKeys() {
        Configuration configuration = minimal();
        configuration.setString(PREFIX + "batch.persist-size-threshold", "2mb");
        configuration.setString(PREFIX + "upload.max-in-flight", "1mb");
        assertThatThrownBy(() -> DstlSettings.from(configuration))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessage(
                        "'state.changelog.dstl.dfs.batch.persist-size-threshold' is 2097152 bytes"
                                + " and 'state.changelog.dstl.dfs.upload.max-in-flight' is 1048576"
                                + " bytes: tasks would stop taking input before a segment is rolled."
                                + " Raise 'state.changelog.dstl.dfs.upload.max-in-flight' or lower"
                                + " 'state.changelog.dstl.dfs.batch.persist-size-threshold'.");
    }

    @ParameterizedTest
    @CsvSource({
        "upload.num-threads, 0, 0, 1 to 1000",
        "discard.num-threads, -1, -1, 1 to 1000",
        "upload.max-attempts, 0, 0, 1 to 2147483647",
        "batch.persist-delay, 2 d, 172800000 ms, 0 ms to 1 d",
        "upload.timeout, 25 h, 90000000 ms, 0 ms to 1 d",
        "upload.next-attempt-delay, 2 d, 172800000 ms, 0 ms to 1 d",
        "preemptive-persist-threshold, 0 b, 0 bytes, 1 bytes to any size",
        "batch.persist-size-threshold, 0 b, 0 bytes, 1 bytes to any size",
        "upload.buffer-size, 2 gb, 2 gb, 1 bytes to 1 gb",
        "upload.max-in-flight, 0 b, 0 bytes, 1 bytes to any size",
    })
    void valueOutOfRange_namesKeyValueRangeAndFix(
            String key, String value, String printed, String range) {
        assertThatThrownBy(() -> settings(key, value))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining("'" + PREFIX + key + "' is " + printed)
                .hasMessageContaining("allowed is " + range + ".")
                .hasMessageContaining(
                        "Set it to a value in that range or remove it for the" + " default,");
    }

    @ParameterizedTest
    @CsvSource({"upload.num-threads, many", "upload.timeout, soon", "upload.max-in-flight, much"})
    void valueThatCannotBeRead_namesKeyAndValue(String key, String value) {
        assertThatThrownBy(() -> settings(key, value))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContaining(
                        "'" + PREFIX + key + "' is '" + value + "', which cannot be read: ")
                .hasMessageContaining("Write it like the default, ");
    }

    @Test
    void everyOption_isDescribedAndLivesUnderOneOfTheTwoPrefixes() throws Exception {
        List<ConfigOption<?>> options = new ArrayList<>();
        for (Field field : DstlOptions.class.getFields()) {
            options.add((ConfigOption<?>) field.get(null));
        }
        assertThat(options)
                .isNotEmpty()
                .allSatisfy(
                        option -> {
                            assertThat(option.key()).startsWith("state.changelog.dstl.");
                            assertThat(option.description()).isNotNull();
                            assertThat(option.fallbackKeys().iterator().hasNext())
                                    .isEqualTo(option.key().startsWith(PREFIX));
                        });
    }

    private static Configuration minimal() {
        Configuration configuration = new Configuration();
        configuration.setString(PREFIX + "base-path", "file:/tmp/log");
        return configuration;
    }

    private static DstlSettings settings(String key, String value) {
        Configuration configuration = minimal();
        configuration.setString(PREFIX + key, value);
        return DstlSettings.from(configuration);
    }
}
