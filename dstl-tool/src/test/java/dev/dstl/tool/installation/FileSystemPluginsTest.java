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

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileSystemPluginsTest {

    private static final String SERVICE = "META-INF/services/" + FileSystemFactory.class.getName();
    private static final String KEY = "execution.checkpointing.dir";

    @TempDir private Path plugins;

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
        install(S3.class);

        assertThat(missing(plugins, KEY, "s3://bucket/checkpoints")).isEmpty();
        assertThat(missing(plugins, KEY, "gs://bucket/checkpoints")).contains("'gs'");
        Configuration both = configuration(KEY, "gs://bucket/checkpoints");
        both.setString("state.changelog.dstl.dfs.base-path", "s3://bucket/log");
        assertThat(new FileSystemPlugins(plugins, Map.of()).missing(both))
                .hasValueSatisfying(problem -> assertThat(problem).startsWith("'" + KEY + "'"));
    }

    @Test
    void plugin_thatCannotBeLoaded_isNotReportedAsMissing() throws Exception {
        install(Broken.class);

        assertThat(missing(plugins, KEY, "s3://bucket/checkpoints")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ENABLE_BUILT_IN_PLUGINS", "HADOOP_CLASSPATH"})
    void fileSystem_thatMayComeFromElsewhere_isNotMissed(String variable) {
        assertThat(
                        new FileSystemPlugins(plugins, Map.of(variable, "x"))
                                .missing(configuration(KEY, "s3a://bucket/checkpoints")))
                .isEmpty();
    }

    private static String missing(Path plugins, String key, String directory) {
        return new FileSystemPlugins(plugins, Map.of())
                .missing(configuration(key, directory))
                .orElse("");
    }

    private static Configuration configuration(String key, String directory) {
        Configuration configuration = new Configuration();
        configuration.setString(key, directory);
        return configuration;
    }

    private void install(Class<? extends FileSystemFactory> factory) throws IOException {
        Path jar = Files.createDirectories(plugins.resolve("s3")).resolve("plugin.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry(SERVICE));
            out.write(factory.getName().getBytes(StandardCharsets.UTF_8));
            for (Class<?> type = factory; type != Object.class; type = type.getSuperclass()) {
                String file = type.getName().replace('.', '/') + ".class";
                out.putNextEntry(new JarEntry(file));
                try (InputStream content = type.getClassLoader().getResourceAsStream(file)) {
                    content.transferTo(out);
                }
            }
        }
    }

    /** A file system of a plugin. */
    public static class S3 implements FileSystemFactory {

        @Override
        public String getScheme() {
            return "s3";
        }

        @Override
        public FileSystem create(URI uri) {
            throw new UnsupportedOperationException();
        }
    }

    /** One that needs what is missing. */
    public static final class Broken extends S3 {

        /** Fails as it would if a class were missing. */
        public Broken() {
            throw new NoClassDefFoundError("org/apache/hadoop/fs/FileSystem");
        }
    }
}
