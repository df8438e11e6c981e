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
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.security.CodeSource;
import java.util.Collections;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The release, commit and Flink line that a jar of DSTL was built from. Uses the JDK only, so that
 * it works where Flink is missing. Immutable.
 */
public final class Release {

    /** Resource that each jar with the changelog storage contains once. */
    public static final String RESOURCE = "META-INF/dstl/release.properties";

    private static final Pattern LINE = Pattern.compile("([0-9]+\\.[0-9]+)(?![0-9])");

    private final String version;
    private final String commit;
    private final String flinkLine;

    private Release(Properties properties) {
        this.version = properties.getProperty("version", "unknown");
        this.commit = properties.getProperty("commit", "unknown");
        this.flinkLine = properties.getProperty("flink.line", "unknown");
    }

    /** Returns the release that this class belongs to. */
    public static Release current() {
        try {
            for (URL url :
                    Collections.list(Release.class.getClassLoader().getResources(RESOURCE))) {
                if (isBesideThisClass(url)) {
                    return at(url);
                }
            }
            return new Release(new Properties());
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + RESOURCE, e);
        }
    }

    /** The class path may contain other releases. */
    private static boolean isBesideThisClass(URL resource) {
        CodeSource source = Release.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            return true;
        }
        String jarOrDirectory = source.getLocation().toString();
        return resource.toString().equals(jarOrDirectory + RESOURCE)
                || resource.toString().equals("jar:" + jarOrDirectory + "!/" + RESOURCE);
    }

    /**
     * Reads the release from a resource.
     *
     * @param properties URL of a {@link #RESOURCE}, in a jar or a directory
     * @throws IOException if it cannot be read
     */
    public static Release at(URL properties) throws IOException {
        Properties read = new Properties();
        try (InputStream in = properties.openStream()) {
            read.load(in);
        }
        return new Release(read);
    }

    /** Returns the version of DSTL, such as 0.1.0. */
    public String version() {
        return version;
    }

    /** Returns the abbreviated Git commit, with the suffix "-dirty" if there were local changes. */
    public String commit() {
        return commit;
    }

    /**
     * Returns the first two numbers of the Flink version that the jar is built for, such as 1.20.
     */
    public String flinkLine() {
        return flinkLine;
    }

    /**
     * Returns whether the jar is built for a version of Flink.
     *
     * @param versionOfFlink such as 1.20.5; anything that does not start with two numbers fits
     */
    public boolean fits(String versionOfFlink) {
        return lineOf(versionOfFlink).map(flinkLine::equals).orElse(true);
    }

    /**
     * Returns the line that a version of Flink belongs to, such as 1.20.
     *
     * @param versionOfFlink such as 1.20.5; anything that does not start with two numbers has none
     */
    public static Optional<String> lineOf(String versionOfFlink) {
        Matcher version = LINE.matcher(versionOfFlink);
        return version.lookingAt() ? Optional.of(version.group(1)) : Optional.empty();
    }

    /** Returns version, commit and Flink line, for log lines and messages. */
    @Override
    public String toString() {
        return version + " (commit " + commit + ", for Flink " + flinkLine + ")";
    }
}
