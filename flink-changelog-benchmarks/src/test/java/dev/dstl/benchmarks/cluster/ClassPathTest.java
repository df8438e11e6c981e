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

import java.io.File;
import org.junit.jupiter.api.Test;

class ClassPathTest {

    @Test
    void ourJars_comeBeforeFlinksOfTheSameName() {
        assertThat(
                        ClassPath.oursFirst(
                                path(
                                        "/lib/flink-dstl-dfs-1.20.5.jar",
                                        "/lib/flink-runtime-1.20.5.jar",
                                        "/lib/flink-dstl-dfs-0.1.0-SNAPSHOT.jar",
                                        "/lib/flink-statebackend-changelog-0.1.0.jar")))
                .isEqualTo(
                        path(
                                "/lib/flink-dstl-dfs-0.1.0-SNAPSHOT.jar",
                                "/lib/flink-statebackend-changelog-0.1.0.jar",
                                "/lib/flink-dstl-dfs-1.20.5.jar",
                                "/lib/flink-runtime-1.20.5.jar"));
    }

    @Test
    void foldersOfABuild_countAsOurs() {
        assertThat(
                        ClassPath.oursFirst(
                                path(
                                        "/m2/flink-core-1.20.5.jar",
                                        "/src/flink-changelog-benchmarks/target/test-classes",
                                        "/src/flink-dstl-dfs/target/classes")))
                .isEqualTo(
                        path(
                                "/src/flink-changelog-benchmarks/target/test-classes",
                                "/src/flink-dstl-dfs/target/classes",
                                "/m2/flink-core-1.20.5.jar"));
    }

    @Test
    void orderAmongOursAndAmongOthers_stays() {
        String classPath = path("b.jar", "a.jar", "c.jar");

        assertThat(ClassPath.oursFirst(classPath)).isEqualTo(classPath);
    }

    private static String path(String... entries) {
        return String.join(File.pathSeparator, entries);
    }
}
