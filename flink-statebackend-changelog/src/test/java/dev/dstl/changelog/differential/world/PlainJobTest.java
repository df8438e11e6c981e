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

package dev.dstl.changelog.differential.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.job.Operation;
import dev.dstl.changelog.differential.job.StateKind;
import dev.dstl.changelog.differential.job.StateSpec;
import dev.dstl.changelog.differential.schema.TypeFamily;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlainJobTest {

    private static final JobShape SHAPE =
            new JobShape(
                    TypeFamily.STRING,
                    TypeFamily.STRING,
                    1,
                    List.of(
                            new StateSpec(
                                    "state",
                                    StateKind.VALUE,
                                    TypeFamily.POJO,
                                    TypeFamily.STRING,
                                    false)),
                    false,
                    false);

    @TempDir Path directory;

    /** Only one of four subtasks uses the state before the next checkpoint. */
    @ParameterizedTest
    @EnumSource(Storage.class)
    void findsItsStateAfterAnUpgradeAndAChangeOfParallelism(Storage storage) throws Exception {
        try (PlainJob job = new PlainJob(SHAPE, directory, () -> 0)) {
            job.start(new Deployment(1, 3, storage, false), null);
            for (int key = 0; key < JobShape.KEYS; key++) {
                apply(job, 1, Operation.WRITE, key);
            }
            job.checkpoint(1, false);
            job.start(new Deployment(2, 4, storage, false), 1L);
            apply(job, 2, Operation.WRITE, 1);
            job.checkpoint(2, false);

            job.start(new Deployment(2, 1, storage, false), 2L);

            for (int key = 0; key < JobShape.KEYS; key++) {
                assertThat(apply(job, 2, Operation.READ, key))
                        .contains("name=name" + key, "number=" + key)
                        .contains(key == 1 ? "cents=100" : "cents=0");
            }
        }
    }

    private static String apply(PlainJob job, int generation, Operation operation, int key)
            throws Exception {
        return job.owner(0, KeyedOperator.keyGroup(SHAPE, generation, key))
                .apply(operation, 0, key, 0, key);
    }
}
