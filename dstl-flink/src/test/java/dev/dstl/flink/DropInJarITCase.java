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

package dev.dstl.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The file that users copy into lib/, as the build leaves it. */
class DropInJarITCase {

    private static final List<String> NAMES_THAT_FLINK_LOOKS_FOR =
            List.of(
                    "org/apache/flink/state/changelog/ChangelogStateBackend.class",
                    "org/apache/flink/state/changelog/DeactivatedChangelogStateBackend.class");

    private static JarFile jar;

    @BeforeAll
    static void open() throws IOException {
        jar = new JarFile(file().toFile());
    }

    /** The jar of this module. */
    static Path file() throws IOException {
        List<Path> jars;
        try (Stream<Path> files = Files.list(Path.of("target"))) {
            jars =
                    files.filter(file -> file.getFileName().toString().startsWith("dstl-flink-"))
                            .filter(file -> file.toString().endsWith(".jar"))
                            .collect(Collectors.toList());
        }
        assertThat(jars).hasSize(1);
        return jars.get(0);
    }

    @AfterAll
    static void close() throws IOException {
        if (jar != null) {
            jar.close();
        }
    }

    @Test
    void classesOfFlinkAreThoseThatReplaceItsOwn_andNoOthers() {
        List<String> foreign =
                classes()
                        .filter(name -> !name.startsWith("dev/dstl/"))
                        .collect(Collectors.toList());

        assertThat(foreign).containsExactlyInAnyOrderElementsOf(NAMES_THAT_FLINK_LOOKS_FOR);
    }

    @Test
    void storageBackendAndSpillableHeapAreIn_theToolIsNot() {
        assertThat(classes())
                .contains(
                        "dev/dstl/log/DstlStorage.class",
                        "dev/dstl/changelog/DstlStateBackend.class",
                        "dev/dstl/spillable/SpillableStateBackend.class")
                .noneMatch(name -> name.startsWith("dev/dstl/tool/"))
                .noneMatch(name -> name.contains("picocli"));
    }

    @Test
    void onlyClassesAndMetadataAreIn() {
        assertThat(names().filter(name -> !name.endsWith(".class")))
                .allMatch(name -> name.startsWith("META-INF/"))
                .noneMatch(name -> name.startsWith("META-INF/versions/"))
                .noneMatch(name -> name.endsWith(".SF") || name.endsWith(".RSA"));
    }

    @Test
    void servicesOfAllModulesAreMerged() throws IOException {
        assertThat(
                        lines(
                                "META-INF/services/org.apache.flink.runtime.state.changelog"
                                        + ".StateChangelogStorageFactory"))
                .containsExactlyInAnyOrder(
                        "dev.dstl.log.DstlStorageFactory", "dev.dstl.log.FilesystemStorageFactory");
        assertThat(lines("META-INF/services/dev.dstl.log.config.OptionCatalog"))
                .containsExactlyInAnyOrder(
                        "dev.dstl.log.config.DstlOptionCatalog",
                        "dev.dstl.changelog.config.ChangelogBackendOptionCatalog");
        List<String> services =
                names().filter(name -> name.startsWith("META-INF/services/"))
                        .filter(name -> !name.endsWith("/"))
                        .collect(Collectors.toList());
        for (String service : services) {
            assertThat(lines(service))
                    .as(service)
                    .allMatch(name -> jar.getEntry(name.replace('.', '/') + ".class") != null);
        }
    }

    @Test
    void licenseAndNoticeAreThoseOfTheProject() throws IOException {
        Path project = Path.of("..").toRealPath();
        while (!Files.exists(project.resolve("LICENSE"))) {
            project = project.getParent();
        }
        assertThat(text("META-INF/LICENSE"))
                .isEqualTo(Files.readString(project.resolve("LICENSE")));
        assertThat(text("META-INF/NOTICE")).isEqualTo(Files.readString(project.resolve("NOTICE")));
    }

    @Test
    void manifestAndReleaseSayTheSame() throws IOException {
        Attributes manifest = jar.getManifest().getMainAttributes();
        Properties release = new Properties();
        release.load(jar.getInputStream(jar.getEntry("META-INF/dstl/release.properties")));

        assertThat(manifest.getValue("Implementation-Version"))
                .isNotBlank()
                .isEqualTo(release.getProperty("version"));
        assertThat(manifest.getValue("DSTL-Commit"))
                .matches("[0-9a-f]{12,}(-dirty)?|unknown")
                .isEqualTo(release.getProperty("commit"));
        assertThat(manifest.getValue("DSTL-Flink-Line"))
                .isEqualTo(release.getProperty("flink.line"));
        assertThat(Path.of(jar.getName()).getFileName())
                .hasToString(
                        String.format(
                                "dstl-flink-%s-%s.jar",
                                release.getProperty("flink.line"), release.getProperty("version")));
    }

    private static Stream<String> names() {
        return jar.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName);
    }

    private static Stream<String> classes() {
        return names().filter(name -> name.endsWith(".class"));
    }

    private static List<String> lines(String entry) throws IOException {
        return text(entry).lines().filter(line -> !line.isBlank()).collect(Collectors.toList());
    }

    private static String text(String entry) throws IOException {
        ZipEntry found = jar.getEntry(entry);
        assertThat(found).as(entry).isNotNull();
        return new String(jar.getInputStream(found).readAllBytes(), StandardCharsets.UTF_8);
    }
}
