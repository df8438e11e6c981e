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

package dev.dstl.changelog.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OverlappingBasesTest {

    @TempDir private Path temporary;

    /** The restored delegate would otherwise be lost, with its memory and its files. */
    @Test
    void filesThatCannotBeDeleted_failNoRestore() throws Exception {
        OverlappingBases<Integer> bases = bases();
        Path directory = directories().get(0);
        Files.delete(directory);
        Files.createFile(directory);
        assertThatCode(bases::close).doesNotThrowAnyException();
    }

    @Test
    void closing_deletesTheFiles() throws Exception {
        OverlappingBases<Integer> bases = bases();
        Files.createFile(directories().get(0).resolve("base"));
        bases.close();
        assertThat(directories()).isEmpty();
    }

    private OverlappingBases<Integer> bases() throws Exception {
        CloseableRegistry cancelRegistry = new CloseableRegistry();
        return new OverlappingBases<>(
                temporary,
                new BaseRestore<>(
                        (keyGroups, keys, snapshots, onlyRead) -> {
                            throw new AssertionError("Nothing is restored");
                        },
                        IntSerializer.INSTANCE,
                        new SnapshotSchemas(
                                FileStateHandle::openInputStream,
                                getClass().getClassLoader(),
                                cancelRegistry)),
                cancelRegistry);
    }

    private List<Path> directories() throws Exception {
        try (Stream<Path> files = Files.list(temporary)) {
            return files.collect(Collectors.toList());
        }
    }
}
