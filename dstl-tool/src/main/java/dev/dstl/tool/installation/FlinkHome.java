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

import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/** A Flink installation: its jars in class path order. Immutable. */
public final class FlinkHome {

    private static final String VERSION = ".flink-runtime.version.properties";

    /** Flink's scripts put jars in subdirectories of lib/ on the class path as well. */
    private static final int LIB_DEPTH = Integer.MAX_VALUE;

    private final Path directory;
    private final Path pluginDirectory;
    private final List<InstalledJar> lib;
    private final List<InstalledJar> plugins;
    private final List<InstalledJar> jobs;
    private final Optional<String> version;

    private FlinkHome(Path directory, Path pluginDirectory) throws ToolException, IOException {
        this.directory = directory;
        this.pluginDirectory = pluginDirectory;
        List<Path> jars = jarsBelow(directory.resolve("lib"), LIB_DEPTH);
        this.lib = read(jars);
        this.plugins = read(jarsBelow(pluginDirectory, 2));
        this.jobs = read(jarsBelow(directory.resolve("usrlib"), Integer.MAX_VALUE));
        Optional<Path> distribution = jars.stream().filter(FlinkHome::isDistribution).findFirst();
        this.version = distribution.isPresent() ? versionOf(distribution.get()) : Optional.empty();
    }

    /**
     * Reads an installation.
     *
     * @param pluginDirectory need not exist
     * @throws ToolException if it has no lib/ with flink-dist, or cannot be read
     */
    public static FlinkHome at(Path directory, Path pluginDirectory) throws ToolException {
        Path lib = directory.resolve("lib");
        try {
            if (!Files.isDirectory(lib)
                    || jarsBelow(lib, LIB_DEPTH).stream().noneMatch(FlinkHome::isDistribution)) {
                throw new ToolException(
                        String.format(
                                "%s is not the directory of a Flink: no flink-dist-*.jar is in %s.",
                                directory, lib));
            }
            return new FlinkHome(directory, pluginDirectory);
        } catch (IOException | UncheckedIOException e) {
            throw new ToolException(
                    String.format("%s cannot be read: %s.", directory, FileAccess.firstLine(e)), e);
        }
    }

    private static boolean isDistribution(Path jar) {
        return jar.getFileName().toString().startsWith("flink-dist");
    }

    /** Sorts as Flink's scripts do, which put flink-dist last. */
    private static List<Path> jarsBelow(Path directory, int depth) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(directory, depth)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    private static List<InstalledJar> read(List<Path> jars) throws ToolException {
        List<InstalledJar> read = new ArrayList<>();
        for (Path jar : jars) {
            if (!isDistribution(jar)) {
                read.add(InstalledJar.at(jar));
            }
        }
        return List.copyOf(read);
    }

    private static Optional<String> versionOf(Path distribution) throws IOException {
        try (JarFile jar = new JarFile(distribution.toFile())) {
            ZipEntry entry = jar.getEntry(VERSION);
            if (entry == null) {
                return Optional.empty();
            }
            Properties properties = new Properties();
            try (InputStream in = jar.getInputStream(entry)) {
                properties.load(in);
            }
            return Optional.ofNullable(properties.getProperty("project.version"));
        }
    }

    /** Returns the directory as it was given. */
    public Path directory() {
        return directory;
    }

    /** Returns the directory of the plugins, which need not exist. */
    Path pluginDirectory() {
        return pluginDirectory;
    }

    /** Returns the jars of lib/ without flink-dist, in class path order. */
    List<InstalledJar> lib() {
        return lib;
    }

    List<InstalledJar> plugins() {
        return plugins;
    }

    /** Returns the jars of usrlib/, where images contain the job. */
    List<InstalledJar> jobs() {
        return jobs;
    }

    /**
     * Returns the version of Flink, such as 1.20.5; empty if the distribution does not contain it.
     */
    Optional<String> version() {
        return version;
    }
}
