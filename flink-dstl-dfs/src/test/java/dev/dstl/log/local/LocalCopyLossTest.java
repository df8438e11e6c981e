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

package dev.dstl.log.local;

import static dev.dstl.log.local.RecoverableTask.local;
import static dev.dstl.log.local.RecoverableTask.remote;
import static dev.dstl.log.testing.LogFixture.append;
import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of segments that are lost or damaged while compactions read them. */
class LocalCopyLossTest {

    @TempDir Path disks;
    private RecoverableTask task;

    @BeforeEach
    void open() {
        task = new RecoverableTask(disks);
    }

    @AfterEach
    void close() {
        task.close();
    }

    @Test
    void copiesThatVanish_cost_neitherCompactions_norRestores() throws Exception {
        task.writer.addCompactionBoundary();
        List<String> expected = new ArrayList<>();
        for (int i = 1; i <= 600; i++) {
            append(task.writer, "change " + i);
            expected.add("change " + i);
            SnapshotResult<ChangelogStateHandleStreamImpl> result = task.persist();
            assertThat(remote(result).getHandlesAndOffsets()).hasSizeLessThan(64);
            task.log.timers().advanceMillis(100);
            if (i % 7 == 0) {
                for (Path copy : task.copies()) {
                    Files.delete(copy);
                }
                assertThat(texts(local(result))).isEqualTo(expected);
            }
        }
        assertThat(task.log.metrics().count("numberOfCompactions")).isGreaterThan(30);
        assertThat(task.log.metrics().count("numberOfCompactionFailures")).isZero();
        assertThat(task.log.metrics().count("numberOfLocalCopyFailures")).isPositive();
    }

    @Test
    void compactionThatCannotReadTheStore_leavesCopiesThatAreCompleteMeanwhile() throws Exception {
        task.open(new Configuration().set(DstlOptions.COMPACTION_MIN_RUNS, 2), "disk");
        task.writer.addCompactionBoundary();
        task.log
                .store()
                .beforeReads(
                        file -> {
                            task.disk.runAll();
                            throw new IOException("Reading is not possible");
                        });
        for (int i = 0; i < 4; i++) {
            append(task.writer, "a");
            task.startPersist().get();
        }
        task.disk.runAll();
        assertThat(task.log.metrics().count("numberOfCompactionFailures")).isPositive();
        assertThat(task.copies()).hasSize(4);
    }

    @Test
    void copiesThatAreDamaged_cost_neitherCompactions_norRestores() throws Exception {
        task.writer.addCompactionBoundary();
        List<String> expected = new ArrayList<>();
        Set<Path> damaged = new HashSet<>();
        for (int i = 1; i <= 300; i++) {
            append(task.writer, "change " + i);
            expected.add("change " + i);
            SnapshotResult<ChangelogStateHandleStreamImpl> result = task.persist();
            assertThat(remote(result).getHandlesAndOffsets()).hasSizeLessThan(64);
            assertThat(task.copies()).isNotEmpty();
            for (Path copy : task.copies()) {
                if (damaged.add(copy)) {
                    byte[] bytes = Files.readAllBytes(copy);
                    bytes[bytes.length / 3] ^= 1;
                    Files.write(copy, bytes);
                }
            }
            assertThat(texts(local(result))).isEqualTo(expected);
        }
        assertThat(task.log.metrics().count("numberOfCompactions")).isPositive();
        assertThat(task.log.metrics().count("numberOfCompactionFailures")).isZero();
        assertThat(task.log.metrics().count("numberOfLocalCopyFailures")).isPositive();
    }
}
