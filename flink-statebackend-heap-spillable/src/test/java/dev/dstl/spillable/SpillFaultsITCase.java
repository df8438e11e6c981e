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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Disks without room, disks that cannot be written, and a process that is killed. */
class SpillFaultsITCase {

    private static final String DIRECTORIES = "state.backend.spillable.directories";
    private static final String WORDS = "300000";

    /** Young collections in quick succession, and room for everything. */
    private static final List<String> FLAGS = Arrays.asList("-Xmx160m", "-Xmn6m", "-XX:+UseG1GC");

    /** A sixth of the heap is too much, and what leaves it needs a disk soon. */
    private static final List<String> SPILL_EARLY =
            Arrays.asList(
                    "state.backend.spillable.load-start.ratio=0.01",
                    "state.backend.spillable.load-end.ratio=0.02",
                    "state.backend.spillable.spill-end.ratio=0.03",
                    "state.backend.spillable.spill-start.ratio=0.15",
                    "state.backend.spillable.spill-size.ratio=0.9",
                    "state.backend.spillable.trigger-interval=50ms",
                    "state.backend.spillable.chunk-size=1mb",
                    "state.backend.spillable.off-heap.size=4mb");

    @TempDir Path temporary;
    @TempDir Path disk;

    @Test
    void aDiskThatIsFull_leavesStateInMemory_withOneErrorAndNothingLost() throws Exception {
        ChildProcess.assumeMounting();
        verifyThatNothingIsLost(ChildProcess.mounting(disk, "-o size=1m"));
    }

    @Test
    void aDiskThatTakesNoChunkAtAll_leavesStateInMemory_withOneErrorAndNothingLost()
            throws Exception {
        verifyThatNothingIsLost(Arrays.asList("sh", "-c", "ulimit -f 512; exec \"$@\"", "sh"));
    }

    private void verifyThatNothingIsLost(List<String> shell) throws Exception {
        try (ChildProcess run = start(shell)) {
            assertThat(run.awaitExit()).as(run.output()).isZero();
            assertThat(run.figure("refusedSpillsTotal")).isPositive();
            assertThat(run.output().lines().filter(line -> line.contains(" ERROR ")))
                    .hasSize(1)
                    .allSatisfy(line -> assertThat(line).contains("No disk takes spilled state"));
            assertThat(run.output()).contains("Free disk space or add directories to");
        }
    }

    @Test
    void aDirectoryThatIsReadOnly_isSaidAtTheStart() throws Exception {
        ChildProcess.assumeMounting();
        try (ChildProcess run = start(ChildProcess.mounting(disk, "-o ro"))) {
            assertThat(run.awaitExit()).as(run.output()).isNotZero();
            assertThat(run.output())
                    .contains("No directory to spill state to is usable: [" + disk + "]")
                    .contains("not writable")
                    .contains("Name writable directories in " + DIRECTORIES);
        }
    }

    @Test
    void aProcessKilledInMidSpill_leavesNothingOnceAnotherHasStarted() throws Exception {
        try (ChildProcess run = start(Collections.emptyList())) {
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
            while (chunkFiles().size() < 2) {
                assertThat(run.isAlive()).as(run.output()).isTrue();
                assertThat(System.nanoTime()).as(run.output()).isLessThan(deadline);
                Thread.sleep(1);
            }
            run.kill();
        }
        assertThat(chunkFiles()).isNotEmpty();

        Configuration config = new Configuration();
        config.setString(DIRECTORIES, disk.toString());
        KeyedBackends.create(
                        new SpillableStateBackend()
                                .configure(config, SpillFaultsITCase.class.getClassLoader()),
                        StringSerializer.INSTANCE,
                        1,
                        new KeyGroupRange(0, 0),
                        Collections.emptyList())
                .dispose();

        assertThat(disk).isEmptyDirectory();
    }

    private ChildProcess start(List<String> shell) throws IOException {
        List<String> arguments = new ArrayList<>(Arrays.asList("spillable", WORDS));
        arguments.addAll(SPILL_EARLY);
        arguments.add(DIRECTORIES + "=" + disk);
        return ChildProcess.start(
                temporary, shell, FLAGS, CountingProcess.class, arguments.toArray(new String[0]));
    }

    /** The chunks on the disk, from which the process deletes meanwhile. */
    private List<Path> chunkFiles() throws IOException {
        try (Stream<Path> files = Files.walk(disk)) {
            return files.filter(file -> file.getFileName().toString().startsWith("chunk-"))
                    .collect(Collectors.toList());
        } catch (UncheckedIOException | NoSuchFileException deletedMeanwhile) {
            return chunkFiles();
        }
    }
}
