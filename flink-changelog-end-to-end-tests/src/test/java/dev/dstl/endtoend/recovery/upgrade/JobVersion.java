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

package dev.dstl.endtoend.recovery.upgrade;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * The versions of the upgraded job. Each is a jar that is submitted with the job as a user's jar:
 * its classes precede those of the same names on the class path of the cluster.
 */
public enum JobVersion {
    FIRST(1),
    SECOND(2),
    THIRD(3);

    private static final String PACKAGE = JobVersion.class.getPackageName().replace('.', '/') + "/";

    /** Classes that tasks load, without the state class. */
    private static final List<String> FUNCTIONS =
            List.of("TallyFunction.class", "TallyFunction$Sum.class", "TallyKey.class");

    private final int number;

    JobVersion(int number) {
        this.number = number;
    }

    /** Returns the next version; the last one has none and returns itself. */
    public JobVersion next() {
        return this == FIRST ? SECOND : THIRD;
    }

    /**
     * Makes the jar if it is not there.
     *
     * @param directory of the jars of all versions
     */
    public Path jar(Path directory) throws IOException {
        Path jar = directory.resolve("job-version-" + number + ".jar");
        if (Files.exists(jar)) {
            return jar;
        }
        Files.createDirectories(directory);
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(file)) {
            for (String name : FUNCTIONS) {
                add(entries, name, ofTests(name));
            }
            if (this == FIRST) {
                add(entries, "Tally.class", ofTests("Tally.class"));
                add(entries, "Tally$Grade.class", ofTests("Tally$Grade.class"));
            } else {
                for (Path compiled : compile(directory)) {
                    add(entries, compiled.getFileName().toString(), Files.readAllBytes(compiled));
                }
            }
        }
        return jar;
    }

    private static void add(JarOutputStream jar, String name, byte[] content) throws IOException {
        jar.putNextEntry(new JarEntry(PACKAGE + name));
        jar.write(content);
        jar.closeEntry();
    }

    private static byte[] ofTests(String name) throws IOException {
        try (InputStream in = JobVersion.class.getResourceAsStream(name)) {
            return in.readAllBytes();
        }
    }

    private List<Path> compile(Path directory) throws IOException {
        Path work = Files.createDirectories(directory.resolve("version-" + number));
        Path source = work.resolve("Tally.java");
        String resource = "/upgrade/version-" + number + "/Tally.java";
        try (InputStream in = JobVersion.class.getResourceAsStream(resource)) {
            Files.write(source, in.readAllBytes());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler).as("the compiler of a JDK; this is a JRE").isNotNull();
        List<String> arguments = new ArrayList<>();
        arguments.add("--release");
        arguments.add("11");
        arguments.add("-d");
        arguments.add(work.toString());
        arguments.add(source.toString());
        int status = compiler.run(null, null, null, arguments.toArray(new String[0]));
        assertThat(status).as("compilation of " + resource).isZero();
        try (Stream<Path> files = Files.walk(work)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .collect(Collectors.toList());
        }
    }
}
