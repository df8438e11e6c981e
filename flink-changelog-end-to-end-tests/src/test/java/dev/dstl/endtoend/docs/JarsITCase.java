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

package dev.dstl.endtoend.docs;

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/**
 * Content of every jar that the build creates and a release publishes. bin/release checks those it
 * adds.
 */
class JarsITCase {

    @Test
    void everyJarHasLicenseAndNotice() throws IOException {
        String license = Documentation.text(Documentation.ROOT.resolve("LICENSE"));
        List<Path> jars = jars();

        assertThat(jars).hasSizeGreaterThan(5);
        for (Path jar : jars) {
            assertThat(text(jar, "META-INF/LICENSE")).as("%s", jar).isEqualTo(license);
            assertThat(text(jar, "META-INF/NOTICE"))
                    .as("%s", jar)
                    .startsWith("DSTL\nCopyright the DSTL authors.");
        }
    }

    private static List<Path> jars() throws IOException {
        List<Path> jars =
                Poms.modules().stream()
                        .map(module -> Documentation.ROOT.resolve(module).resolve("target"))
                        .filter(Files::isDirectory)
                        .flatMap(JarsITCase::filesIn)
                        .map(Path::of)
                        .filter(file -> file.getFileName().toString().startsWith("dstl-"))
                        .filter(file -> file.toString().endsWith(".jar"))
                        .collect(toList());
        assertThat(jars)
                .extracting(jar -> jar.getFileName().toString())
                .contains("dstl-tool-" + Poms.version() + "-all.jar");
        return jars;
    }

    private static Stream<String> filesIn(Path directory) {
        File[] files = directory.toFile().listFiles(File::isFile);
        return Stream.of(files == null ? new File[0] : files).map(File::getPath);
    }

    private static String text(Path jar, String entry) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            ZipEntry found = file.getEntry(entry);
            assertThat(found).as("%s in %s", entry, jar).isNotNull();
            try (InputStream content = file.getInputStream(found)) {
                return new String(content.readAllBytes(), StandardCharsets.UTF_8);
            }
        }
    }
}
