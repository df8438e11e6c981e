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

import dev.dstl.benchmarks.harness.Changelog;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A job is cancelled or stopped, and another one continues from its checkpoint or savepoint. */
class RetainedCheckpointITCase {

    @TempDir static Path directory;
    private static RecoveryCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        Configuration settings = new Configuration();
        // Jobs of a few seconds, whose logs would otherwise travel in the checkpoints.
        settings.setString("state.changelog.dstl.inline-threshold", "0 b");
        cluster = new RecoveryCluster(directory, settings);
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    static Stream<Arguments> backendsAndModes() {
        List<RestoreMode> modes = Arrays.asList(RestoreMode.CLAIM, RestoreMode.NO_CLAIM);
        return Stream.concat(
                Stream.of(
                                Backend.CHANGELOG_ON_ROCKSDB,
                                Backend.CHANGELOG_ON_HASHMAP,
                                Backend.CHANGELOG_ON_SPILLABLE,
                                Backend.SPILLABLE)
                        .flatMap(
                                backend -> modes.stream().map(mode -> Arguments.of(backend, mode))),
                Stream.of(Arguments.of(Backend.CHANGELOG_ON_ROCKSDB, legacy())));
    }

    @SuppressWarnings("deprecation") // Flink advises against it, and supports it.
    private static RestoreMode legacy() {
        return RestoreMode.LEGACY;
    }

    @ParameterizedTest
    @MethodSource("backendsAndModes")
    void restoredJob_goesOnWhereTheCancelledOneWas(Backend backend, RestoreMode mode)
            throws Exception {
        OrderRun run = cluster.newRun(backend);
        run.submit();
        run.awaitCheckpoints(3);
        RetainedCheckpoint checkpoint = run.cancel();
        run.submitFrom(checkpoint, mode);
        run.awaitCheckpoints(3);
        if (mode == RestoreMode.NO_CLAIM) {
            // Whoever does not claim a checkpoint must soon be able to do without it.
            checkpoint.deleteAllOfItsJob();
        }
        run.failTask();
        run.awaitRestores(2);
        run.finish();
        run.verify();
    }

    /** Flink deletes merged files with the first checkpoint of the restored job. */
    @Test
    void jobWithMergedFiles_goesOnWithAChangelog_afterItsCheckpointWasClaimed() throws Exception {
        Configuration merging = new Configuration();
        merging.setString("execution.checkpointing.file-merging.enabled", "true");
        OrderRun merged = cluster.newRun(Backend.ROCKSDB, OrderVolume.SMALL, merging);
        merged.submit();
        merged.awaitCheckpoints(3);
        RetainedCheckpoint checkpoint = merged.cancel();
        OrderRun run = cluster.newRunOf(merged, Backend.CHANGELOG_ON_ROCKSDB);
        run.submitFrom(checkpoint, RestoreMode.CLAIM);
        run.awaitCheckpoints(3);
        run.failTask();
        run.awaitRestores(2);
        run.finish();
        run.verify();
    }

    @ParameterizedTest
    @EnumSource(SavepointFormatType.class)
    void jobOfAnotherParallelism_goesOnWhereTheStoppedOneWas(SavepointFormatType format)
            throws Exception {
        OrderRun run = cluster.newRun(Backend.CHANGELOG_ON_ROCKSDB);
        run.submit();
        run.awaitCheckpoints(2);
        String savepoint = run.stopWithSavepoint(format);
        run.setParallelism(1);
        run.submitFrom(savepoint, RestoreMode.NO_CLAIM);
        run.awaitCheckpoints(2);
        run.finish();
        run.verify();
    }

    /** Flink's built-in changelog does not support {@code NO_CLAIM}. */
    @Test
    void savepoint_isTheWayBackToFlinksOwnChangelog_ifItIsClaimed() throws Exception {
        OrderRun run = cluster.newRun(Backend.CHANGELOG_ON_ROCKSDB);
        run.submit();
        run.awaitCheckpoints(2);
        String savepoint = run.stopWithSavepoint(SavepointFormatType.CANONICAL);

        Path own = directory.resolve("own-changelog");
        Configuration filesystem = new Configuration();
        filesystem.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, "filesystem");
        try (RecoveryCluster flink =
                new RecoveryCluster(
                        own,
                        filesystem,
                        own.resolve("plugins"),
                        Changelog.BUILT_IN.classPath(Path.of("target", "built-in")))) {
            OrderRun there = flink.newRunOf(run, Backend.CHANGELOG_ON_ROCKSDB);
            there.submitFrom(savepoint, RestoreMode.NO_CLAIM);
            there.await(
                    "refusal of NO_CLAIM",
                    () ->
                            flink.processes()
                                    .client()
                                    .newestFailure(there.job())
                                    .orElse("")
                                    .contains("NO_CLAIM"));
            there.discard();
            there.submitFrom(savepoint, RestoreMode.CLAIM);
            there.awaitCheckpoints(3);
            there.failTask();
            there.awaitRestores(2);
            there.finish();
            there.verify();
        }
    }
}
