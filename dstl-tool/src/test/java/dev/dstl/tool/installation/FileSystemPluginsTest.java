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

package dev.dstl.tool.installation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.tool.fixture.FileSystemJar;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileSystemPluginsTest {

    private static final String KEY = "execution.checkpointing.dir";
    private static final Configuration S3A = configuration(KEY, "s3a://bucket/checkpoints");
    private static final Map<String, String> HADOOP = Map.of("HADOOP_CLASSPATH", "/hadoop/*");

    @TempDir private Path plugins;
    @TempDir private Path libDirectory;

    @ParameterizedTest
    @CsvSource({
        "state.changelog.dstl.dfs.base-path, s3://bucket/log, s3, flink-s3-fs-presto",
        "dstl.dfs.base-path, s3://bucket/log, s3, flink-s3-fs-presto",
        "execution.checkpointing.dir, gs://bucket/checkpoints, gs, flink-gs-fs-hadoop",
        "execution.checkpointing.savepoint-dir, abfss://c@a/savepoints, abfss, flink-azure-fs",
    })
    void directory_whosePluginIsMissing_isAProblem(
            String key, String directory, String scheme, String jar) {
        assertThat(missing(plugins, key, directory))
                .contains("is '" + directory + "', but no plugin in " + plugins)
                .contains("has a file system for '" + scheme + "'; copy " + jar);
        assertThat(missing(plugins.resolve("none"), key, directory)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"file:///log", "/log", "hdfs://host/log", "viewfs:///log", "own://log"})
    void directory_thatMayDoWithoutAPlugin_isNone(String directory) {
        assertThat(missing(plugins, KEY, directory)).isEmpty();
    }

    @Test
    void plugin_thatIsThere_isFound() throws Exception {
        FileSystemJar.ofS3(plugins.resolve("s3").resolve("plugin.jar"));

        assertThat(missing(plugins, KEY, "s3://bucket/checkpoints")).isEmpty();
        assertThat(missing(plugins, KEY, "gs://bucket/checkpoints")).contains("'gs'");
        Configuration both = configuration(KEY, "gs://bucket/checkpoints");
        both.setString("state.changelog.dstl.dfs.base-path", "s3://bucket/log");
        assertThat(missing(both, Map.of())).startsWith("'" + KEY + "'");
    }

    @Test
    void plugin_thatCannotBeLoaded_isNotReportedAsMissing() throws Exception {
        FileSystemJar.broken(plugins.resolve("s3").resolve("plugin.jar"));

        assertThat(missing(plugins, KEY, "s3://bucket/checkpoints")).isEmpty();
    }

    @Test
    void fileSystem_thatTheImageCopiesAtItsStart_isNotMissed() {
        assertThat(missing(S3A, Map.of("ENABLE_BUILT_IN_PLUGINS", "x"))).isEmpty();
    }

    @Test
    void fileSystem_inLib_isFound() throws Exception {
        Path jar = libDirectory.resolve("s3.jar");
        FileSystemJar.ofS3(jar);
        List<InstalledJar> lib = List.of(InstalledJar.at(jar));

        assertThat(missing(configuration(KEY, "s3://bucket/checkpoints"), lib, Map.of())).isEmpty();
        assertThat(missing(S3A, lib, Map.of())).contains("'s3a'");
    }

    @Test
    void hadoop_isNotUsedForASchemeOfAPlugin_unlessTheConfigurationAllowsIt() throws Exception {
        List<InstalledJar> lib = List.of(hadoop());

        assertThat(missing(S3A, HADOOP))
                .contains("no plugin in " + plugins + " has a file system for 's3a'")
                .endsWith("only if 'fs.allowed-fallback-filesystems' contains 's3a'.");
        assertThat(missing(S3A, lib, Map.of()))
                .endsWith("only if 'fs.allowed-fallback-filesystems' contains 's3a'.");
        assertThat(missing(allowed("gs;s3"), HADOOP)).contains("'s3a'");
        assertThat(missing(allowed("gs; s3a"), HADOOP)).isEmpty();
        assertThat(missing(allowed("s3a"), lib, Map.of())).isEmpty();
    }

    @Test
    void hadoop_thatIsAllowedButNotThere_isNoFileSystem() {
        assertThat(missing(allowed("s3a"), Map.of("HADOOP_CLASSPATH", "")))
                .contains("no plugin in " + plugins + " has a file system for 's3a'")
                .endsWith("but Hadoop is neither in lib/ nor in HADOOP_CLASSPATH.");
    }

    private static Configuration allowed(String schemes) {
        Configuration configuration = new Configuration(S3A);
        configuration.setString("fs.allowed-fallback-filesystems", schemes);
        return configuration;
    }

    private InstalledJar hadoop() throws Exception {
        Path jar = libDirectory.resolve("hadoop-common.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("org/apache/hadoop/fs/FileSystem.class"));
        }
        return InstalledJar.at(jar);
    }

    private static String missing(Path plugins, String key, String directory) {
        return new FileSystemPlugins(plugins, List.of(), Map.of())
                .missing(configuration(key, directory))
                .orElse("");
    }

    private String missing(Configuration configuration, Map<String, String> environment) {
        return missing(configuration, List.of(), environment);
    }

    private String missing(
            Configuration configuration, List<InstalledJar> lib, Map<String, String> environment) {
        return new FileSystemPlugins(plugins, lib, environment).missing(configuration).orElse("");
    }

    private static Configuration configuration(String key, String directory) {
        Configuration configuration = new Configuration();
        configuration.setString(key, directory);
        return configuration;
    }
}
