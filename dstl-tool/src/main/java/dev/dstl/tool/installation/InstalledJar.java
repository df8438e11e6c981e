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

import dev.dstl.log.config.Installation;
import dev.dstl.log.config.Release;
import dev.dstl.tool.output.ToolException;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import org.apache.flink.core.fs.FileSystemFactory;

/** What a jar of an installation contains that matters to DSTL. Immutable. */
final class InstalledJar {

    private static final String SHIM = Installation.SHIM.replace('.', '/') + ".class";
    private static final String STORAGE = "dev/dstl/log/DstlStorage.class";
    private static final String BACKEND = "dev/dstl/changelog/backend/LoggingStateBackend.class";
    private static final String SPILLABLE = "dev/dstl/spillable/SpillableStateBackend.class";
    private static final String TOOL = "dev/dstl/tool/Dstl.class";
    private static final String FILE_SYSTEMS =
            "META-INF/services/" + FileSystemFactory.class.getName();
    private static final String HADOOP = "org/apache/hadoop/fs/FileSystem.class";

    private final Path path;
    private final boolean hasStorage;
    private final boolean hasBackend;
    private final boolean hasSpillable;
    private final boolean hasShim;
    private final boolean isTool;
    private final boolean hasFileSystems;
    private final boolean hasHadoop;
    private final Optional<Release> release;

    private InstalledJar(Path path, JarFile jar) throws IOException {
        this.path = path;
        this.hasStorage = jar.getEntry(STORAGE) != null;
        this.hasBackend = jar.getEntry(BACKEND) != null;
        this.hasSpillable = jar.getEntry(SPILLABLE) != null;
        this.hasShim = jar.getEntry(SHIM) != null;
        this.isTool = jar.getEntry(TOOL) != null;
        this.hasFileSystems = jar.getEntry(FILE_SYSTEMS) != null;
        this.hasHadoop = jar.getEntry(HADOOP) != null;
        this.release =
                jar.getEntry(Release.RESOURCE) == null
                        ? Optional.empty()
                        : Optional.of(
                                Release.at(
                                        new URL("jar:" + path.toUri() + "!/" + Release.RESOURCE)));
    }

    /**
     * Examines a jar.
     *
     * @throws ToolException if it cannot be read
     */
    static InstalledJar at(Path path) throws ToolException {
        try (JarFile jar = new JarFile(path.toFile())) {
            return new InstalledJar(path, jar);
        } catch (IOException e) {
            throw new ToolException(
                    String.format("%s cannot be read: %s.", path, e.getMessage()), e);
        }
    }

    Path path() {
        return path;
    }

    /** Returns whether Flink would load classes of DSTL from it. */
    boolean isDstl() {
        return !isTool && (hasStorage || hasBackend || hasSpillable);
    }

    /** Returns whether it is a complete drop-in jar for lib/. */
    boolean isWhole() {
        return hasStorage && hasBackend && hasShim && release.isPresent();
    }

    boolean isTool() {
        return isTool;
    }

    /**
     * Returns whether it contains Flink's class with the name of DSTL's shim, which must come first
     * on the class path.
     */
    boolean hasForeignShim() {
        return hasShim && !hasBackend;
    }

    /** Returns whether Flink finds file systems in it. */
    boolean hasFileSystems() {
        return hasFileSystems;
    }

    /** Returns whether it contains Hadoop's file systems. */
    boolean hasHadoop() {
        return hasHadoop;
    }

    Optional<Release> release() {
        return release;
    }

    /** Returns file name, version and commit. */
    String text() {
        return release.map(known -> path.getFileName() + ", " + known)
                .orElse(String.valueOf(path.getFileName()));
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("file", path.toString());
        json.put("version", release.map(Release::version).orElse(null));
        json.put("commit", release.map(Release::commit).orElse(null));
        json.put("flinkLine", release.map(Release::flinkLine).orElse(null));
        return json;
    }
}
