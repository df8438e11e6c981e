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

package dev.dstl.benchmarks.demo;

import dev.dstl.benchmarks.harness.RunFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The directory of a run's checkpoints and changelog. Immutable. */
final class CheckpointLocation {

    private final Path local;
    private final String uri;

    private CheckpointLocation(Path local, String uri) {
        this.local = local;
        this.uri = uri;
    }

    static CheckpointLocation local(Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        return new CheckpointLocation(absolute, "file://" + absolute.toUri().getRawPath());
    }

    static CheckpointLocation remote(String uri) {
        return new CheckpointLocation(null, uri);
    }

    /** Returns a directory in the simulated object store of a run. */
    static CheckpointLocation simulated(RunFiles files) {
        return new CheckpointLocation(files.storeRoot(), files.storeUri());
    }

    /** Returns a subdirectory. */
    CheckpointLocation resolve(String name) {
        return local == null
                ? remote(uri.replaceAll("/+$", "") + "/" + name)
                : local(local.resolve(name));
    }

    String uri() {
        return uri.replaceAll("/+$", "");
    }

    /** Returns the local directory, if it is one. */
    Optional<Path> directory() {
        return Optional.ofNullable(local);
    }

    /**
     * Creates a local directory and checks that it is writable.
     *
     * @throws DemoFailure if it is not
     */
    void prepare() throws DemoFailure {
        if (local == null) {
            return;
        }
        try {
            Files.createDirectories(local);
            Files.delete(Files.createTempFile(local, "writable", ""));
        } catch (IOException e) {
            throw new DemoFailure(
                    "--checkpoints must name a directory that can be written, but "
                            + local
                            + " cannot: "
                            + e);
        }
    }
}
