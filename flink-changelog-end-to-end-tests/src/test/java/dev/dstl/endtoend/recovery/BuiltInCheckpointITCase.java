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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.benchmarks.harness.Changelog;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.RestoreMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job moves from Flink's built-in changelog to DSTL with nothing but a checkpoint. */
class BuiltInCheckpointITCase {

    @TempDir Path directory;

    @Test
    void jobOfTheBuiltInChangelog_goesOnWithDstl() throws Exception {
        Path own = directory.resolve("built-in");
        Configuration filesystem = new Configuration();
        filesystem.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "filesystem");
        OrderRun run;
        RetainedCheckpoint checkpoint;
        try (RecoveryCluster flink =
                new RecoveryCluster(
                        own,
                        filesystem,
                        own.resolve("plugins"),
                        Changelog.BUILT_IN.classPath(Path.of("target", "built-in")))) {
            run = flink.newRun(Backend.CHANGELOG_ON_ROCKSDB);
            run.submit();
            run.awaitCheckpoints(4);
            checkpoint = run.cancel();
            assertThat(flink.logged("taskmanager", "DSTL")).as("lines of DSTL").isZero();
        }

        try (RecoveryCluster dstl = new RecoveryCluster(directory.resolve("dstl"))) {
            OrderRun there = dstl.newRunOf(run, Backend.CHANGELOG_ON_ROCKSDB);
            there.submitFrom(checkpoint, RestoreMode.CLAIM);
            there.awaitCheckpoints(3);
            assertThat(dstl.logged("taskmanager", "Replayed ", " changelogs of ")).isPositive();
            there.failTask();
            there.awaitRestores(2);
            there.finish();
            there.verify();
        }
    }
}
