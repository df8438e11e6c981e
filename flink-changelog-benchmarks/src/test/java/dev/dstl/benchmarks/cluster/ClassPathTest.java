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

package dev.dstl.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassPathTest {

    @Test
    void ourJars_comeBeforeThoseOfFlink() {
        assertThat(
                        ClassPath.of(
                                        path(
                                                "/lib/flink-dstl-dfs-1.20.5.jar",
                                                "/lib/flink-runtime-1.20.5.jar",
                                                "/lib/dstl-log-0.1.0-SNAPSHOT.jar",
                                                "/lib/dstl-flink-1.20-0.1.0.jar"))
                                .text())
                .isEqualTo(
                        path(
                                "/lib/dstl-log-0.1.0-SNAPSHOT.jar",
                                "/lib/dstl-flink-1.20-0.1.0.jar",
                                "/lib/flink-dstl-dfs-1.20.5.jar",
                                "/lib/flink-runtime-1.20.5.jar"));
    }

    @Test
    void foldersOfABuild_countAsOurs() {
        assertThat(
                        ClassPath.of(
                                        path(
                                                "/m2/flink-core-1.20.5.jar",
                                                "/src/flink-changelog-benchmarks/target/test-classes",
                                                "/src/flink-dstl-dfs/target/classes"))
                                .text())
                .isEqualTo(
                        path(
                                "/src/flink-changelog-benchmarks/target/test-classes",
                                "/src/flink-dstl-dfs/target/classes",
                                "/m2/flink-core-1.20.5.jar"));
    }

    @Test
    void jarsOfOthersBelowTarget_areNotOurs() {
        String classPath =
                path(
                        "/src/flink-changelog-benchmarks/target/lib/flink-core-1.20.5.jar",
                        "/src/flink-changelog-benchmarks/target/lib/dstl-flink-1.20-2.0.0.jar");

        assertThat(ClassPath.of(classPath).withoutBackends().text())
                .isEqualTo("/src/flink-changelog-benchmarks/target/lib/flink-core-1.20.5.jar");
    }

    @Test
    void orderAmongOursAndAmongOthers_stays() {
        String classPath = path("b.jar", "a.jar", "c.jar");

        assertThat(ClassPath.of(classPath).text()).isEqualTo(classPath);
    }

    @Test
    void withoutBackends_isFlinkAndTheJobs() {
        assertThat(
                        ClassPath.of(
                                        path(
                                                "/lib/dstl-log-0.1.0-SNAPSHOT.jar",
                                                "/lib/dstl-flink-1.20-0.1.0.jar",
                                                "/src/flink-statebackend-heap-spillable/target/classes",
                                                "/lib/dstl-benchmarks-0.1.0.jar",
                                                "/lib/flink-runtime-1.20.5.jar"))
                                .withoutBackends()
                                .text())
                .isEqualTo(path("/lib/dstl-benchmarks-0.1.0.jar", "/lib/flink-runtime-1.20.5.jar"));
    }

    @Test
    void withoutBuiltIn_isWithoutFlinksChangelogAlone() {
        assertThat(
                        ClassPath.of(
                                        path(
                                                "/src/dstl-flink/target/dstl-flink-1.20-0.1.0.jar",
                                                "/lib/dstl-changelog-0.1.0-SNAPSHOT.jar",
                                                "/m2/flink-dstl-dfs-1.20.5.jar",
                                                "/m2/flink-statebackend-changelog-1.20.5.jar",
                                                "/m2/flink-statebackend-rocksdb-1.20.5.jar"))
                                .withoutBuiltIn()
                                .text())
                .isEqualTo(
                        path(
                                "/src/dstl-flink/target/dstl-flink-1.20-0.1.0.jar",
                                "/lib/dstl-changelog-0.1.0-SNAPSHOT.jar",
                                "/m2/flink-statebackend-rocksdb-1.20.5.jar"));
    }

    @Test
    void jarsOfAFolder_comeBeforeAllOthers(@TempDir Path folder) throws IOException {
        Path jar = Files.createFile(folder.resolve("flink-dstl-dfs-1.20.5.jar"));
        Files.createFile(folder.resolve("notes.txt"));

        assertThat(ClassPath.of("/lib/flink-runtime-1.20.5.jar").withJarsOf(folder).text())
                .isEqualTo(path(jar.toString(), "/lib/flink-runtime-1.20.5.jar"));
    }

    @Test
    void folderWithoutJars_isAnError(@TempDir Path folder) {
        assertThatThrownBy(() -> ClassPath.of("a.jar").withJarsOf(folder))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("No jar in " + folder);
    }

    private static String path(String... entries) {
        return String.join(File.pathSeparator, entries);
    }
}
