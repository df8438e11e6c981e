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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.contract.Delegate;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operators of one task materialize independently; Flink's local store keeps what they need. */
@Timeout(120)
class ChainedOperatorsTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void baseOfOneOperator_outlivesManyOfTheOther_andEachIsDeletedWhenNobodyNeedsIt(
            Delegate delegate) throws Exception {
        try (Chain chain = new Chain(directory, delegate, false)) {
            chain.materialize(0, "first");
            chain.materialize(1, "second 1");
            chain.checkpoint(1);
            for (long id = 2; id < 8; id++) {
                chain.materialize(1, "second " + id);
                chain.checkpoint(id);
            }
            CommonTestUtils.waitUntilCondition(() -> materializations(chain) == 2);

            chain.restart(7);

            assertThat(chain.operator(0).value(1).value()).isEqualTo("first");
            assertThat(chain.operator(1).value(1).value()).isEqualTo("second 7");
            chain.checkpoint(8);
            chain.materialize(0, "first again");
            chain.checkpoint(9);
            CommonTestUtils.waitUntilCondition(() -> materializations(chain) == 2);
            chain.restart(9);
            assertThat(chain.operator(0).value(1).value()).isEqualTo("first again");
            assertThat(chain.operator(1).value(1).value()).isEqualTo("second 7");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void abortedCheckpoint_takesNoLocalCopyAlongThatLaterOnesNeed(Delegate delegate)
            throws Exception {
        try (Chain chain = new Chain(directory, delegate, false)) {
            chain.materialize(0, "first");
            chain.materialize(1, "second");
            chain.checkpoint(1);
            chain.materialize(0, "first again");
            chain.acknowledge(2);
            chain.abort(2);
            chain.checkpoint(3);

            chain.restart(3);

            assertThat(chain.operator(0).value(1).value()).isEqualTo("first again");
            assertThat(chain.operator(1).value(1).value()).isEqualTo("second");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Delegate.class,
            names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void copyOfARestartedProcess_isDeletedWhenNoLocalCheckpointHasIt(Delegate delegate)
            throws Exception {
        try (Chain chain = new Chain(directory, delegate, false)) {
            chain.materialize(0, "first");
            chain.materialize(1, "second");
            chain.checkpoint(1);
            List<Path> former = chain.localDirectories();

            chain.restartProcess(1);
            chain.materialize(0, "first again");
            chain.materialize(1, "second again");
            assertThat(chain.localDirectories()).as("the task may fail").containsAll(former);
            chain.restart(1);

            assertThat(chain.operator(0).value(1).value()).isEqualTo("first");
            assertThat(chain.operator(1).value(1).value()).isEqualTo("second");
            chain.materialize(0, "first again");
            chain.materialize(1, "second again");
            chain.checkpoint(2);
            CommonTestUtils.waitUntilCondition(
                    () -> chain.localDirectories().stream().noneMatch(former::contains));
            chain.restart(2);
            assertThat(chain.operator(0).value(1).value()).isEqualTo("first again");
            assertThat(chain.operator(1).value(1).value()).isEqualTo("second again");
        }
    }

    /** Number of materializations with a directory for local copies. */
    private static long materializations(Chain chain) {
        try {
            return chain.localDirectories().size();
        } catch (IOException | java.io.UncheckedIOException deletedMeanwhile) {
            return -1;
        }
    }
}
