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

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.ToolProvider;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstallationTest {

    private static final ClassLoader CLASS_LOADER = InstallationTest.class.getClassLoader();

    @TempDir private Path lib;

    @ParameterizedTest
    @ValueSource(
            strings = {"1.20", "1.20.0", "1.20.5", "1.20-SNAPSHOT", "1.20.9-acme-3", "<unknown>"})
    void everyPatchOfTheLine_isFine(String version) {
        assertThat(Installation.of(CLASS_LOADER, version).problems()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.19.2", "2.0.0", "2.3.0", "1.2", "1.200.1", "1.21-SNAPSHOT"})
    void anotherLine_isNamedWithThatOfTheJar(String version) {
        assertThat(Installation.of(CLASS_LOADER, version).problems())
                .singleElement()
                .asString()
                .startsWith("DSTL " + Release.current().version() + " in file:")
                .endsWith(
                        "is built for Flink 1.20, but this is Flink "
                                + version
                                + "; remove it from lib/, or run it with Flink 1.20.");
    }

    @Test
    void twoVersions_areNamedWithTheirJars() throws Exception {
        Path jar = jar("dstl-flink-1.20-9.9.9.jar", "version=9.9.9\ncommit=abc\nflink.line=1.20\n");
        try (URLClassLoader both = new URLClassLoader(urls(jar), CLASS_LOADER)) {
            Installation installation = Installation.of(both, "1.20.5");

            assertThat(installation.problems())
                    .singleElement()
                    .asString()
                    .startsWith("There are 2 versions of DSTL on the class path: ")
                    .contains(Release.current() + " in file:")
                    .contains("9.9.9 (commit abc, for Flink 1.20) in " + jar.toUri().toURL())
                    .endsWith("; keep one jar in lib/, and restart the process.");
            assertThatThrownBy(installation::verify)
                    .isInstanceOf(IllegalConfigurationException.class)
                    .hasMessage(installation.problems().get(0));
        }
    }

    @Test
    void theSameVersionTwice_canRun() throws Exception {
        Release current = Release.current();
        Path jar =
                jar(
                        "copy.jar",
                        String.format(
                                "version=%s%ncommit=%s%nflink.line=%s%n",
                                current.version(), current.commit(), current.flinkLine()));
        try (URLClassLoader both = new URLClassLoader(urls(jar), CLASS_LOADER)) {
            assertThat(Installation.of(both, "1.20.5").problems()).isEmpty();
        }
    }

    /** As with flink-dist before DSTL's jar, or with the storage alone. */
    @Test
    void aStateBackendOfFlink_isNamedWithItsPlace() throws Exception {
        Path source = lib.resolve("ChangelogStateBackend.java");
        Files.writeString(
                source,
                "package org.apache.flink.state.changelog; public class ChangelogStateBackend {}");
        assertThat(
                        ToolProvider.getSystemJavaCompiler()
                                .run(null, null, null, "-d", lib.toString(), source.toString()))
                .isZero();
        try (URLClassLoader flink = new URLClassLoader(urls(lib), CLASS_LOADER)) {
            assertThat(Installation.of(flink, "1.20.5").problems())
                    .singleElement()
                    .asString()
                    .startsWith("The changelog storage is DSTL's, from file:")
                    .contains(
                            "but the changelog state backend is Flink's, from "
                                    + lib.toUri().toURL())
                    .contains("put dstl-flink-1.20-<version>.jar into lib/ of every Flink process");
            assertThat(Installation.of(flink, "2.3.0").problems())
                    .as("the jar to install is that of this Flink")
                    .anySatisfy(
                            problem ->
                                    assertThat(problem)
                                            .startsWith("The changelog storage is DSTL's")
                                            .contains("; put dstl-flink-2.3-<version>.jar into"));
        }
    }

    private Path jar(String name, String release) throws IOException {
        Path jar = lib.resolve(name);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry(Release.RESOURCE));
            out.write(release.getBytes(java.nio.charset.StandardCharsets.UTF_8));
            out.closeEntry();
        }
        return jar;
    }

    private static URL[] urls(Path jar) throws IOException {
        return new URL[] {jar.toUri().toURL()};
    }
}
