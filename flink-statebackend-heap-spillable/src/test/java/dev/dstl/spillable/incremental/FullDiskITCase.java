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

import dev.dstl.spillable.ChildProcess;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Disks that get full in the middle of a file of a checkpoint, or of its local copy. */
class FullDiskITCase {

    @TempDir Path temporary;
    @TempDir Path small;
    @TempDir Path large;

    @ParameterizedTest
    @ValueSource(strings = {"remote", "local"})
    void fullInTheMiddleOfAFile_leavesNothing_andTheNextCheckpointWorks(String which)
            throws Exception {
        ChildProcess.assumeMounting();
        try (ChildProcess process =
                ChildProcess.start(
                        temporary,
                        ChildProcess.mounting(small, "-o size=16m"),
                        List.of("-Xmx128m"),
                        FullDiskProcess.class,
                        which,
                        small.toString(),
                        large.toString())) {
            assertThat(process.awaitExit()).as(process.output()).isZero();
            assertThat(process.output()).contains("correct");
            assertThat(process.figure("full")).isGreaterThanOrEqualTo(5);
        }
    }
}
