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

import java.nio.file.Path;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Everything that happens to a job, in sequence: the shortest test of a line of Flink. */
class JobLifeITCase {

    @TempDir Path directory;

    @ParameterizedTest
    @EnumSource(names = {"CHANGELOG_ON_ROCKSDB", "CHANGELOG_ON_SPILLABLE"})
    void killedAndRescaledJob_losesAndRepeatsNothing(Backend backend) throws Exception {
        try (RecoveryCluster cluster = new RecoveryCluster(directory)) {
            OrderRun run = cluster.newRun(backend);
            run.submit();
            run.awaitCheckpoints(3);
            run.killTaskManager();
            run.awaitRestores(1);
            run.awaitCheckpoints(2);

            String savepoint = run.stopWithSavepoint(SavepointFormatType.CANONICAL);
            run.setParallelism(1);
            run.submitFrom(savepoint, RestoreMode.NO_CLAIM);
            run.awaitCheckpoints(3);

            RetainedCheckpoint checkpoint = run.cancel();
            run.setParallelism(2);
            run.submitFrom(checkpoint, RestoreMode.CLAIM);
            run.awaitCheckpoints(2);
            run.failTask();
            run.awaitRestores(2);
            run.finish();
            run.verify();
        }
    }
}
