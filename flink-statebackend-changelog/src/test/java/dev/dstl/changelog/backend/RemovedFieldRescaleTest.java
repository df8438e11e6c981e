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

import dev.dstl.changelog.contract.Delegate;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A class of the job loses a field, and the parallelism changes. */
class RemovedFieldRescaleTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(Delegate.class)
    void fieldThatIsRemoved_isNotNeededToReadTheChangelog(Delegate used) throws Exception {
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        List.of(),
                        (subtask, states) -> states.write(1));
        assertRestoredWithoutTheField(job, handles);
    }

    /** The subclass was unknown when the states were registered in the changelog. */
    @ParameterizedTest
    @EnumSource(Delegate.class)
    void subclassThatIsWrittenLater_isDescribedInTheChangelog(Delegate used) throws Exception {
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        List.of(),
                        (subtask, states) -> {
                            states.write(1);
                            states.useSubclass();
                            states.write(2);
                        });
        assertRestoredWithoutTheField(job, handles);
    }

    /** Their schemas differ, since a POJO's serializer names the subclasses that it has written. */
    @ParameterizedTest
    @EnumSource(Delegate.class)
    void fieldThatIsRemoved_isNotNeededToReadBasesOfDifferentSchemas(Delegate used)
            throws Exception {
        AccountJob job = new AccountJob(directory, used);
        List<KeyedStateHandle> handles =
                job.run(
                        AccountJob.NEW_FIELDS,
                        AccountJob.TWO_SUBTASKS,
                        List.of(),
                        (subtask, states) -> {
                            if (subtask == 0) {
                                states.writeSubclass();
                            }
                            AccountJob.createBase(subtask, states);
                        });
        assertRestoredWithoutTheField(job, handles);
    }

    /** With one subtask, and then from its checkpoint with two. */
    private static void assertRestoredWithoutTheField(
            AccountJob job, List<KeyedStateHandle> handles) throws Exception {
        List<KeyedStateHandle> again =
                job.run(
                        AccountJob.OLD_FIELDS,
                        AccountJob.ONE_SUBTASK,
                        handles,
                        (subtask, states) -> states.assertContents(0, 0));
        job.run(
                AccountJob.OLD_FIELDS,
                AccountJob.TWO_SUBTASKS,
                again,
                (subtask, states) -> states.assertContents(0, 0));
    }
}
