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

package dev.dstl.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.tool.fixture.FileSystemJar;
import dev.dstl.tool.fixture.ToolRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DoctorCommandTest extends ToolTest {

    private static final String STORAGE = "dev/dstl/log/DstlStorage.class";
    private static final String BACKEND = "dev/dstl/changelog/backend/LoggingStateBackend.class";
    private static final String SHIM =
            "org/apache/flink/state/changelog/ChangelogStateBackend.class";
    private static final String RELEASE = "META-INF/dstl/release.properties";
    private static final String KEYS =
            "state.changelog.enabled: true\nstate.changelog.storage: dstl\n"
                    + "state.changelog.dstl.dfs.base-path: file:///tmp/log\n"
                    + "execution.checkpointing.dir: file:///tmp/checkpoints\n";

    private Path lib;

    @BeforeEach
    void unpackFlink() throws IOException {
        lib = Files.createDirectories(directory.resolve("lib"));
        jar(lib.resolve("flink-dist-1.20.5.jar"), "1.20.5", ".flink-runtime.version.properties");
        jar(lib.resolve("log4j-core-2.24.3.jar"), "", "org/apache/logging/Log.class");
        configure(KEYS);
    }

    @Test
    void rightInstallation_isFine() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");

        ToolRun run = dstl("doctor", directory).isFine();

        assertThat(run.out())
                .contains("version 1.20.5")
                .contains("dstl-flink-1.20-0.1.0.jar, 0.1.0 (commit abc, for Flink 1.20)")
                .contains("no problem was found");
        assertThat(dstl("doctor", directory, "--json").isFine().json().get("problems")).isEmpty();
    }

    @Test
    void noJar_isAProblem() {
        fails("No jar of DSTL is in " + lib + "; copy dstl-flink-1.20-<version>.jar there");
    }

    @Test
    void noJar_isAProblem_whoseFixIsTheJarOfThisFlink() throws Exception {
        jar(lib.resolve("flink-dist-1.20.5.jar"), "2.3.0", ".flink-runtime.version.properties");

        fails("No jar of DSTL is in " + lib + "; copy dstl-flink-2.3-<version>.jar there");

        jar(lib.resolve("dstl-log-0.1.0.jar"), "0.1.0", RELEASE, STORAGE);

        fails("dstl-log-0.1.0.jar is a single module of DSTL; replace it with dstl-flink-2.3-");
    }

    @Test
    void aFlinkWithoutAJarOfDstl_isAProblem() throws Exception {
        jar(lib.resolve("flink-dist-1.20.5.jar"), "1.19.2", ".flink-runtime.version.properties");

        fails("This is Flink 1.19.2, but DSTL has jars for Flink 1.20, 2.0, 2.1, 2.2, 2.3 only.");
    }

    @Test
    void jarInPlugins_isAProblem() throws Exception {
        Path plugin = Files.createDirectories(directory.resolve("plugins").resolve("dstl"));
        install(plugin.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");

        fails("is below plugins/, where Flink looks for no state backend; move it to " + lib);
    }

    @Test
    void jarInAJob_isAProblem() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        Path jobs = Files.createDirectories(directory.resolve("usrlib"));
        install(jobs.resolve("job.jar"), "0.1.0");

        fails("job.jar contains DSTL, from where Flink does not load it");
    }

    @Test
    void twoVersions_areAProblem() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        install(lib.resolve("dstl-flink-1.20-0.2.0.jar"), "0.2.0");

        fails("There are 2 jars of DSTL in " + lib, "0.1.0 (commit abc", "0.2.0 (commit abc");
    }

    @Test
    void copiesOfOneJar_areANote() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        install(lib.resolve("dstl.jar"), "0.1.0");

        assertThat(dstl("doctor", directory).isFine().out())
                .contains("note      There are 2 jars of DSTL in " + lib);
    }

    @Test
    void aFlinkWithoutAConfiguration_isAProblem_notAWrongCommandLine() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        Files.delete(directory.resolve("conf").resolve("config.yaml"));

        fails("config.yaml", "does not exist");
    }

    @Test
    void anOlderVersionInASubdirectoryOfLib_isAProblem() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.2.0.jar"), "0.2.0");
        Path old = Files.createDirectories(lib.resolve("old"));
        install(old.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");

        fails("There are 2 jars of DSTL in " + lib, "0.1.0 (commit abc", "0.2.0 (commit abc");
    }

    @Test
    void aValueThatCannotBeParsed_isAProblemAmongOthers() throws Exception {
        configure(KEYS.replace("state.changelog.enabled: true", "state.changelog.enabled: yes!"));

        fails("No jar of DSTL is in " + lib);
        assertThat(dstl("doctor", directory).out())
                .contains("problem   ", "yes!", "state.changelog.enabled", "problems: 2");
    }

    @Test
    void aMalformedConfiguration_isNamedWithWhatIsWrong() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        configure(KEYS + "state.changelog.enabled: false\n");

        dstl("doctor", directory)
                .fails(
                        1,
                        "Flink's configuration in " + directory.resolve("conf"),
                        "duplicate key",
                        "state.changelog.enabled");
    }

    @Test
    void withoutADirectory_theConfigurationOfFlinkConfDirIsExamined() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
        Files.writeString(elsewhere.resolve("config.yaml"), KEYS.replace("dstl.dfs", "dtsl.dfs"));

        assertThat(doctor("FLINK_CONF_DIR", elsewhere)).isEqualTo(1);

        assertThat(output())
                .content()
                .contains("Did you mean 'state.changelog.dstl.dfs.base-path'?");
    }

    @Test
    void withoutADirectory_thePluginsOfFlinkPluginsDirAreExamined() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        configure(KEYS.replace("file:///tmp", "s3://bucket"));
        Path elsewhere = directory.resolve("elsewhere");
        FileSystemJar.ofS3(elsewhere.resolve("s3").resolve("s3.jar"));

        assertThat(doctor("FLINK_PLUGINS_DIR", elsewhere)).isZero();

        install(elsewhere.resolve("s3").resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        assertThat(doctor("FLINK_PLUGINS_DIR", elsewhere)).isEqualTo(1);
        assertThat(output()).content().contains("is below plugins/");
    }

    @Test
    void aFileSystemThatNothingHas_isAProblem_whichAJarInLibSolves() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        configure(KEYS.replace("file:///tmp", "s3://bucket"));
        fails("no plugin in " + directory.resolve("plugins") + " has a file system for 's3'");

        FileSystemJar.ofS3(lib.resolve("s3").resolve("s3.jar"));
        dstl("doctor", directory).isFine();
    }

    @Test
    void hadoopInLib_isAFileSystemForTheSchemesThatAreAllowed() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        jar(lib.resolve("hadoop.jar"), "", "org/apache/hadoop/fs/FileSystem.class");
        String keys = KEYS.replace("file:///tmp", "s3a://bucket");
        configure(keys);
        fails("Flink uses Hadoop's file system only if 'fs.allowed-fallback-filesystems' contains");

        configure(keys + "fs.allowed-fallback-filesystems: s3a\n");
        dstl("doctor", directory).isFine();
    }

    /** Returns the exit code of a process for the Flink of FLINK_HOME. */
    private int doctor(String variable, Path value) throws Exception {
        ProcessBuilder doctor =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty(
                                        "surefire.test.class.path",
                                        System.getProperty("java.class.path")),
                                Dstl.class.getName(),
                                "doctor")
                        .redirectOutput(output().toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD);
        doctor.environment().put("FLINK_HOME", directory.toString());
        doctor.environment().put(variable, value.toString());
        return doctor.start().waitFor();
    }

    private Path output() {
        return directory.resolve("output");
    }

    @Test
    void checkpointsThatBeginUnaligned_areANote_whereFlinkLosesSplits() throws Exception {
        configure(KEYS + "execution.checkpointing.unaligned.enabled: true\n");
        assertThat(dstl("doctor", directory).out()).doesNotContain("lose splits");

        jar(lib.resolve("flink-dist-1.20.5.jar"), "2.3.0", ".flink-runtime.version.properties");
        assertThat(dstl("doctor", directory).out())
                .contains("note      'execution.checkpointing.unaligned.enabled' is true")
                .contains("Flink 2.3 may then lose splits", "to '1 ms'");

        configure(
                KEYS
                        + "execution.checkpointing.unaligned.enabled: true\n"
                        + "execution.checkpointing.aligned-checkpoint-timeout: 1 ms\n");
        assertThat(dstl("doctor", directory).out()).doesNotContain("lose splits");
    }

    @Test
    void aSingleModule_isAProblem() throws Exception {
        jar(lib.resolve("dstl-log-0.1.0.jar"), "0.1.0", RELEASE, STORAGE);

        fails("dstl-log-0.1.0.jar is a single module of DSTL; replace it with dstl-flink-1.20-");
    }

    @Test
    void theTool_isAProblem() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        jar(
                lib.resolve("dstl-tool-0.1.0-all.jar"),
                "0.1.0",
                RELEASE,
                STORAGE,
                "dev/dstl/tool/Dstl.class");

        fails("dstl-tool-0.1.0-all.jar is the command line tool; take it out of " + lib);
    }

    @Test
    void anotherLine_isAProblem() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        jar(lib.resolve("flink-dist-1.20.5.jar"), "2.1.3", ".flink-runtime.version.properties");

        fails("is built for Flink 1.20, but this is Flink 2.1.3");
    }

    @Test
    void flinksStateBackendInFront_isAProblem() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        jar(lib.resolve("a-changelog-1.20.5.jar"), "", SHIM);

        fails("a-changelog-1.20.5.jar has Flink's changelog state backend and precedes DSTL's jar");
    }

    @Test
    void wrongKeys_areProblems_inTheWordsOfATaskManager() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");

        configure(KEYS.replace("dstl.dfs", "dtsl.dfs"));
        fails("Did you mean 'state.changelog.dstl.dfs.base-path'?");
        configure("state.changelog.enabled: true\nstate.changelog.storage: dstl\n");
        fails("'state.changelog.dstl.dfs.base-path' is not set");
        configure(KEYS.replace("storage: dstl", "storage: memory"));
        fails("'state.changelog.storage: memory' keeps the changelog in memory");
        configure(KEYS.replace("storage: dstl", "storage: filesytem"));
        fails("'state.changelog.storage' is 'filesytem', which names no storage");
        configure(KEYS + "execution.checkpointing.file-merging.enabled: true\n");
        fails("'execution.checkpointing.file-merging.enabled' is true");
        configure(KEYS + "state.backend.spillable.chunksize: 64 mb\n");
        fails("Did you mean 'state.backend.spillable.chunk-size'?");
        configure(KEYS + "state.backend.spillable.chunk-size: 3 mb\n");
        fails("'state.backend.spillable.chunk-size' is 3145728 bytes; it must be a power of two");
        configure(KEYS + "state.changelog.dstl.materialize.max-time-fraction: 0\n");
        fails("'state.changelog.dstl.materialize.max-time-fraction: 0.0' is not a fraction");
        configure(KEYS + "state.changelog.periodic-materialize.interval: ten\n");
        fails("'state.changelog.periodic-materialize.interval' is 'ten', which cannot be read");
    }

    @Test
    void changelogWithoutTheSwitch_isANote() throws Exception {
        install(lib.resolve("dstl-flink-1.20-0.1.0.jar"), "0.1.0");
        configure(KEYS.replace("state.changelog.enabled: true\n", ""));

        assertThat(dstl("doctor", directory).isFine().out())
                .contains("'state.changelog.enabled' is not true: only jobs that set it");
    }

    @Test
    void whatIsNoFlink_isRefused() throws Exception {
        dstl("doctor", Files.createDirectories(directory.resolve("empty")))
                .fails(1, "is not the directory of a Flink");
    }

    private void fails(String... parts) {
        dstl("doctor", directory).fails(1, parts);
    }

    private void configure(String keys) throws IOException {
        Path conf = Files.createDirectories(directory.resolve("conf"));
        Files.writeString(conf.resolve("config.yaml"), keys);
    }

    private static void install(Path jar, String version) throws IOException {
        jar(jar, version, RELEASE, STORAGE, BACKEND, SHIM);
    }

    private static void jar(Path jar, String version, String... entries) throws IOException {
        String text =
                String.format(
                        "version=%s%ncommit=abc%nflink.line=1.20%nproject.version=%s%n",
                        version, version);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            for (String entry : entries) {
                out.putNextEntry(new JarEntry(entry));
                out.write(text.getBytes(StandardCharsets.UTF_8));
                out.closeEntry();
            }
        }
    }
}
