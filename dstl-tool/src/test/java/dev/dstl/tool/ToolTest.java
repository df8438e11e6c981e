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

import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.tool.fixture.ToolRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Runs the tool on the files of a test. */
abstract class ToolTest {

    @TempDir Path directory;

    @AfterEach
    void forgetTheToolsFileSystems() {
        GuardedFileSystem.reset();
        FileSystem.initialize(new Configuration(), null);
    }

    static ToolRun dstl(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode =
                Dstl.run(
                        new PrintWriter(out, true),
                        new PrintWriter(err, true),
                        Stream.of(arguments).map(Object::toString).toArray(String[]::new));
        return new ToolRun(exitCode, out.toString(), err.toString());
    }

    Path basePath() {
        return directory.resolve("log");
    }

    Path checkpoints() {
        return directory.resolve("checkpoints");
    }

    static Path fileOf(ChangelogStateHandleStreamImpl log) {
        FileStateHandle segment = (FileStateHandle) log.getHandlesAndOffsets().get(0).f0;
        return Path.of(segment.getFilePath().getPath());
    }

    /** The id of the job that has written a segment. */
    static String jobOf(Path segment) {
        return segment.getParent().getParent().getParent().getFileName().toString();
    }

    /** All existing segments. */
    List<Path> segments() {
        try (Stream<Path> files = Files.walk(basePath())) {
            return files.filter(file -> file.toString().endsWith(".seg"))
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
