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

package dev.dstl.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {

    /** Larger than any that Linux gives to a process. */
    private static final String ENDED = "run-4194305";

    @TempDir Path parent;

    private Path file(String run, String name) throws IOException {
        Path file = parent.resolve(run).resolve("dstl").resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, "content");
    }

    @Test
    void ofARunThatWasInterrupted_onlyTheLogsStay() throws IOException {
        Path object = file(ENDED, "store/run/objects/segment");
        Path state = file(ENDED, "cluster/tmp/state");
        Path log = file(ENDED, "cluster/logs/taskmanager.log");

        RunDirectory.create(parent);

        assertThat(object).doesNotExist();
        assertThat(state).doesNotExist();
        assertThat(log).exists();
    }

    @Test
    void aRunThatGoesOn_andWhatIsNoRun_stay() throws IOException {
        long alive = ProcessHandle.current().parent().orElseThrow().pid();
        Path ofOther = file("run-" + alive, "store/segment");
        Path report = file("report", "store/index.html");

        RunDirectory.create(parent);

        assertThat(ofOther).exists();
        assertThat(report).exists();
    }

    @Test
    void theDirectoryOfThisProcess_isEmpty() throws IOException {
        file("run-" + ProcessHandle.current().pid(), "store/segment");

        assertThat(RunDirectory.create(parent)).isEmptyDirectory();
    }
}
