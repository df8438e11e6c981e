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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A TaskManager process is killed. */
class KilledProcessITCase {

    @TempDir static Path directory;
    private static RecoveryCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        cluster = new RecoveryCluster(directory);
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void killedTaskManager_losesAndRepeatsNothing(Backend backend) throws Exception {
        OrderRun run = cluster.newRun(backend);
        run.submit();
        run.awaitCheckpoints(4);
        run.killTaskManager();
        run.awaitRestores(1);
        run.awaitCheckpoints(2);
        run.finish();
        run.verify();
    }
}
