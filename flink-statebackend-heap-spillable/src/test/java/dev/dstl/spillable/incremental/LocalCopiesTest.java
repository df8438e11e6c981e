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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalCopiesTest {

    @TempDir Path disk;
    private final LocalCopies copies = new LocalCopies();

    private Path copy(String name) throws IOException {
        Path path = Files.writeString(disk.resolve(name), name);
        copies.add(path);
        return path;
    }

    @Test
    void copyThatExists_getsOneMoreName() throws IOException {
        Path copy = copy("one");
        Path target = disk.resolve("target");

        assertThat(copies.linkTo(target)).isEqualTo(copy);

        assertThat(Files.isSameFile(copy, target)).isTrue();
    }

    @Test
    void copiesThatWereDeleted_areSkipped() throws IOException {
        Path oldest = copy("oldest");
        for (int i = 0; i < 20; i++) {
            Files.delete(copy("deleted " + i));
        }
        Path target = disk.resolve("target");

        assertThat(copies.linkTo(target)).isEqualTo(oldest);

        assertThat(Files.isSameFile(oldest, target)).isTrue();
    }

    @Test
    void withoutACopy_nothingIsWritten() throws IOException {
        Files.delete(copy("deleted"));

        assertThat(copies.linkTo(disk.resolve("target"))).isNull();

        assertThat(disk).isEmptyDirectory();
    }

    @Test
    void diskWithoutHardLinks_takesTheBytes() throws IOException {
        copy("bytes");
        URI zip = URI.create("jar:" + disk.resolve("disk.zip").toUri());
        try (FileSystem other = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
            Path target = other.getPath("target");

            assertThat(copies.linkOnlyTo(target)).isNull();
            assertThat(target).doesNotExist();
            assertThat(copies.linkTo(target)).isNotNull();

            assertThat(Files.readString(target)).isEqualTo("bytes");
        }
    }

    @Test
    void directoryThatIsGone_isAFailure_andTheCopyIsNotForgotten() throws IOException {
        copy("one");

        assertThatThrownBy(() -> copies.linkTo(disk.resolve("gone").resolve("target")))
                .isInstanceOf(IOException.class);

        assertThat(copies.linkTo(disk.resolve("target"))).isNotNull();
    }
}
