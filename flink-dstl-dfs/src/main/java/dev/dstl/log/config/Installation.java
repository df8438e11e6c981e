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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jars of DSTL in this process, and whether they are in the right place. Problems are logged
 * once per process, when the first class of DSTL is loaded, because some of them stop Flink before
 * a job could report them. Immutable and thread-safe.
 */
public final class Installation {

    /** Name of the class that Flink loads for {@code state.changelog.enabled}. */
    public static final String SHIM = "org.apache.flink.state.changelog.ChangelogStateBackend";

    private static final Logger LOG = LoggerFactory.getLogger(Installation.class);
    private static final String BACKEND = "dev.dstl.changelog.backend.LoggingStateBackend";

    private final List<String> problems;

    private Installation(List<String> problems) {
        this.problems = List.copyOf(problems);
    }

    /** Returns the installation of this process, as seen by the class loader of this class. */
    public static Installation ofProcess() {
        return Once.INSTALLATION;
    }

    /**
     * Examines the class path of {@code classLoader}.
     *
     * @param versionOfFlink such as 1.20.5; anything that does not start with two numbers counts as
     *     the right one
     */
    static Installation of(ClassLoader classLoader, String versionOfFlink) {
        List<String> problems = new ArrayList<>();
        Release current = Release.current();
        wrongLine(current, versionOfFlink).ifPresent(problems::add);
        twoVersions(releases(classLoader)).ifPresent(problems::add);
        anotherBackend(classLoader, versionOfFlink).ifPresent(problems::add);
        return new Installation(problems);
    }

    private static Optional<String> wrongLine(Release current, String versionOfFlink) {
        if (current.fits(versionOfFlink)) {
            return Optional.empty();
        }
        return Optional.of(
                String.format(
                        "DSTL %s in %s is built for Flink %s, but this is Flink %s; remove it from"
                                + " lib/, or run it with Flink %s.",
                        current.version(),
                        placeOf(Installation.class),
                        current.flinkLine(),
                        versionOfFlink,
                        current.flinkLine()));
    }

    private static Optional<String> twoVersions(Map<String, Release> releases) {
        long different = releases.values().stream().map(Release::toString).distinct().count();
        if (different < 2) {
            return Optional.empty();
        }
        return Optional.of(
                String.format(
                        "There are %d versions of DSTL on the class path: %s; keep one jar in lib/,"
                                + " and restart the process.",
                        different, listed(releases)));
    }

    private static Optional<String> anotherBackend(ClassLoader classLoader, String versionOfFlink) {
        Class<?> shim;
        try {
            shim = Class.forName(SHIM, false, classLoader);
        } catch (ClassNotFoundException | LinkageError e) {
            // Without it the storage is unused; a class that cannot be linked is for another Flink.
            return Optional.empty();
        }
        for (Class<?> type = shim; type != null; type = type.getSuperclass()) {
            if (type.getName().equals(BACKEND)) {
                return Optional.empty();
            }
        }
        return Optional.of(
                String.format(
                        "The changelog storage is DSTL's, from %s, but the changelog state backend"
                                + " is Flink's, from %s; put dstl-flink-%s-<version>.jar into lib/ of"
                                + " every Flink process, where it precedes flink-dist, and no single"
                                + " modules of DSTL.",
                        placeOf(Installation.class),
                        placeOf(shim),
                        Release.lineOf(versionOfFlink).orElse(Release.current().flinkLine())));
    }

    /**
     * Returns what is wrong with the installation, one sentence each, with what was found, where,
     * and the fix. Empty if nothing is wrong.
     */
    public List<String> problems() {
        return problems;
    }

    /**
     * Checks the installation.
     *
     * @throws IllegalConfigurationException if anything is wrong with it; the message contains all
     *     problems
     */
    public void verify() {
        if (!problems.isEmpty()) {
            throw new IllegalConfigurationException(String.join(" ", problems));
        }
    }

    /** Returns the URL from which a class was loaded, for messages. */
    public static String placeOf(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null ? "an unknown place" : String.valueOf(source.getLocation());
    }

    private static Map<String, Release> releases(ClassLoader classLoader) {
        Map<String, Release> releases = new LinkedHashMap<>();
        try {
            for (URL url : Collections.list(classLoader.getResources(Release.RESOURCE))) {
                releases.put(jarOf(url), Release.at(url));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the jars of DSTL", e);
        }
        return releases;
    }

    private static String listed(Map<String, Release> releases) {
        return releases.entrySet().stream()
                .map(entry -> entry.getValue() + " in " + entry.getKey())
                .collect(Collectors.joining(", "));
    }

    /** Returns the jar or directory that contains the resource. */
    private static String jarOf(URL resource) {
        String place = resource.toString();
        place = place.substring(0, place.length() - Release.RESOURCE.length());
        if (place.startsWith("jar:") && place.endsWith("!/")) {
            place = place.substring("jar:".length(), place.length() - "!/".length());
        }
        return place;
    }

    /** Examines the installation once per process. */
    private static final class Once {

        private static final Installation INSTALLATION = lookAndLog();

        private Once() {}

        private static Installation lookAndLog() {
            ClassLoader classLoader = Installation.class.getClassLoader();
            Installation installation = of(classLoader, EnvironmentInformation.getVersion());
            LOG.info("DSTL {} is in {}", Release.current(), placeOf(Installation.class));
            Map<String, Release> releases = releases(classLoader);
            if (installation.problems().isEmpty() && releases.size() > 1) {
                LOG.warn(
                        "The same version of DSTL is on the class path {} times: {}; keep one jar in"
                                + " lib/",
                        releases.size(),
                        listed(releases));
            }
            installation
                    .problems()
                    .forEach(problem -> LOG.error("DSTL cannot run here: {}", problem));
            return installation;
        }
    }
}
