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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.cluster.ClassPath;
import dev.dstl.benchmarks.cluster.ClusterClient;
import dev.dstl.benchmarks.harness.Changelog;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour with wrong jars in lib/ or wrong keys. */
class InstallationITCase {

    private static final Path BUILT_IN_JARS = Path.of("target", "built-in");

    @TempDir Path directory;

    @Test
    void rightInstallation_saysWhatRuns_andWrongKeysAreRefused() throws Exception {
        try (RecoveryCluster cluster =
                cluster(new Configuration(), ClassPath.ofThisProcess().withoutBuiltIn())) {
            OrderRun run = run(cluster, new Configuration());
            run.submit();
            run.awaitCheckpoints(1);
            run.finish();
            run.verify();
            assertThat(cluster.logged("taskmanager", "INFO", "DSTL ", ", for Flink 1.20) is in "))
                    .isEqualTo(2);
            assertThat(
                            cluster.logged(
                                    "taskmanager",
                                    "INFO",
                                    "(commit ",
                                    "runs job " + run.job(),
                                    "delegate HashMapStateBackend, storage dstl"))
                    .isBetween(1L, 2L);
            assertThat(
                            cluster.logged(
                                    "taskmanager",
                                    "'state.changelog.enabled' is not set",
                                    "itself"))
                    .isPositive();

            Configuration merging = new Configuration();
            merging.setString("execution.checkpointing.file-merging.enabled", "true");
            assertRefused(
                    cluster,
                    merging,
                    "'execution.checkpointing.file-merging.enabled' is true, which DSTL does not"
                            + " support; set it to false");

            Configuration misspelt = new Configuration();
            misspelt.setString("state.changelog.dtsl.dfs.base-path", "file:/tmp/log");
            assertRefused(
                    cluster,
                    misspelt,
                    "'state.changelog.dtsl.dfs.base-path' is set to 'file:/tmp/log', but there is no"
                            + " such key. Did you mean 'state.changelog.dstl.dfs.base-path'?");

            Configuration memory = new Configuration();
            memory.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "memory");
            memory.setString("state.changelog.enable", "true");
            cluster.replaceTaskManagers(memory);
            assertRefused(
                    cluster,
                    new Configuration(),
                    "'state.changelog.enable' is set to 'true', but there is no such key. Did you"
                            + " mean 'state.changelog.enabled'?");

            Configuration inMemory = new Configuration();
            inMemory.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "memory");
            cluster.replaceTaskManagers(inMemory);
            assertRefused(
                    cluster,
                    new Configuration(),
                    "'state.changelog.storage: memory' keeps the changelog in memory");
        }
    }

    @Test
    void jarBehindFlinksOwn_isRefused_insteadOfRunningFlinksStateBackend() throws Exception {
        try (RecoveryCluster cluster =
                cluster(new Configuration(), ClassPath.ofThisProcess().withJarsOf(BUILT_IN_JARS))) {
            String sentence = "The changelog storage is DSTL's, from file:";
            OrderRun run = run(cluster, new Configuration());
            run.submit();
            run.await("refusal", () -> failure(cluster, run).contains(sentence));
            assertThat(failure(cluster, run))
                    .contains("but the changelog state backend is Flink's, from file:")
                    .contains("flink-statebackend-changelog-1.20")
                    .contains("put dstl-flink-1.20-<version>.jar into lib/");
            assertThat(cluster.logged("taskmanager", "ERROR", "DSTL cannot run here: " + sentence))
                    .isEqualTo(2);
        }
    }

    /** Flink looks there for a storage, but not for a state backend. */
    @Test
    void jarInPlugins_isRefused_insteadOfRunningFlinksStateBackend() throws Exception {
        Path plugin = Files.createDirectories(directory.resolve("plugins").resolve("dstl"));
        Path jar = dropInJar();
        Files.copy(jar, plugin.resolve(jar.getFileName()));
        try (RecoveryCluster cluster =
                cluster(new Configuration(), Changelog.BUILT_IN.classPath(BUILT_IN_JARS))) {
            OrderRun run = run(cluster, new Configuration());
            run.submit();
            run.await(
                    "refusal",
                    () ->
                            failure(cluster, run)
                                    .contains(
                                            "The changelog storage is DSTL's, from "
                                                    + plugin.toUri().toURL()));
            assertThat(failure(cluster, run))
                    .contains("put dstl-flink-1.20-<version>.jar into lib/");
        }
    }

    @Test
    void noJar_isTheFailureThatThePageDescribes() throws Exception {
        try (RecoveryCluster cluster =
                cluster(new Configuration(), Changelog.BUILT_IN.classPath(BUILT_IN_JARS))) {
            OrderRun run = run(cluster, new Configuration());
            run.submit();
            run.await("failure", () -> failure(cluster, run).contains("Changelog storage is null"));
            assertThat(cluster.logged("taskmanager", "DSTL ", " is in ")).isZero();
        }
    }

    @Test
    void twoVersions_areRefusedWithTheirPlaces() throws Exception {
        Path other = Files.createDirectories(directory.resolve("other"));
        jar(
                other.resolve("dstl-flink-1.20-9.9.9.jar"),
                "META-INF/dstl/release.properties",
                "version=9.9.9\ncommit=abc\nflink.line=1.20\n");
        try (RecoveryCluster cluster =
                cluster(
                        new Configuration(),
                        ClassPath.ofThisProcess().withoutBuiltIn().withJarsOf(other))) {
            assertRefused(
                    cluster,
                    new Configuration(),
                    "There are 2 versions of DSTL on the class path: 9.9.9 (commit abc, for Flink"
                            + " 1.20) in file:",
                    "dstl-flink-1.20-9.9.9.jar, ",
                    "keep one jar in lib/, and restart the process.");
            assertThat(cluster.logged("taskmanager", "ERROR", "There are 2 versions of DSTL"))
                    .isEqualTo(2);
        }
    }

    @Test
    void anotherLineOfFlink_isRefused_andLoggedWhenTheTaskManagerStarts() throws Exception {
        Path other = Files.createDirectories(directory.resolve("other"));
        jar(
                other.resolve("flink-version.jar"),
                ".flink-runtime.version.properties",
                "project.version=1.19.2\n");
        try (RecoveryCluster cluster =
                cluster(
                        new Configuration(),
                        ClassPath.ofThisProcess().withoutBuiltIn().withJarsOf(other))) {
            assertThat(
                            cluster.logged(
                                    "taskmanager",
                                    "ERROR",
                                    "is built for Flink 1.20, but this is Flink 1.19.2;"))
                    .isEqualTo(2);
            assertRefused(
                    cluster,
                    new Configuration(),
                    "is built for Flink 1.20, but this is Flink 1.19.2; remove it from lib/, or run"
                            + " it with Flink 1.20.");
        }
    }

    /** The JobManager cannot read the acknowledgements of TaskManagers. */
    @Test
    void noJarOnTheJobManager_isTheExceptionThatThePageDescribes() throws Exception {
        try (RecoveryCluster cluster =
                cluster(new Configuration(), Changelog.BUILT_IN.classPath(BUILT_IN_JARS))) {
            cluster.replaceTaskManagers(
                    new Configuration(), ClassPath.ofThisProcess().withoutBuiltIn());
            OrderRun run = run(cluster, new Configuration());
            run.submit();
            run.await(
                    "exception",
                    () ->
                            cluster.logged(
                                            "jobmanager",
                                            "java.lang.ClassNotFoundException:"
                                                    + " dev.dstl.log.segment.FrameList")
                                    > 0);
        }
    }

    private static Path dropInJar() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(Path::of)
                .filter(entry -> entry.getFileName().toString().startsWith("dstl-flink-"))
                .findFirst()
                .orElseThrow();
    }

    private RecoveryCluster cluster(Configuration settings, ClassPath classPath) throws Exception {
        return new RecoveryCluster(directory, settings, directory.resolve("plugins"), classPath);
    }

    private static OrderRun run(RecoveryCluster cluster, Configuration job) {
        return cluster.newRun(Backend.CHANGELOG_ON_HASHMAP, OrderVolume.SMALL, job);
    }

    /** Expects that a new job fails at once with a message. */
    private static void assertRefused(
            RecoveryCluster cluster, Configuration job, String... sentence) throws Exception {
        ClusterClient client = cluster.processes().client();
        OrderRun refused = run(cluster, job);
        refused.submit();
        refused.awaitStatus(JobStatus.FAILED);
        assertThat(client.failureOf(refused.job()))
                .as("what flink run prints")
                .get()
                .asString()
                .contains("MisconfigurationException: ")
                .contains(sentence);
    }

    private static String failure(RecoveryCluster cluster, OrderRun run) throws Exception {
        return cluster.processes().client().newestFailure(run.job()).orElse("");
    }

    private static void jar(Path jar, String entry, String text) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry(entry));
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.closeEntry();
        }
    }
}
