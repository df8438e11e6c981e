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
import dev.dstl.changelog.fixture.JobClasses;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.util.TemporaryClassLoaderContext;

/** A job that is compiled anew for each run, with other fields in the class of its accounts. */
final class AccountJob {

    static final List<KeyGroupRange> ONE_SUBTASK = List.of(KeyGroupRange.of(0, 7));
    static final List<KeyGroupRange> TWO_SUBTASKS =
            List.of(KeyGroupRange.of(0, 3), KeyGroupRange.of(4, 7));
    static final List<KeyGroupRange> THREE_SUBTASKS =
            List.of(KeyGroupRange.of(0, 2), KeyGroupRange.of(3, 5), KeyGroupRange.of(6, 7));

    static final String OLD_FIELDS = "public long cents;";
    static final String NEW_FIELDS = "public long cents; public int since;";

    /** Type of the checkpoint at the end of each run. */
    SnapshotType snapshotType = CheckpointType.CHECKPOINT;

    private final Path directory;
    private final Delegate delegate;
    private int run;

    /** Keeps its files in a directory. */
    AccountJob(Path directory, Delegate delegate) {
        this.directory = directory;
        this.delegate = delegate;
    }

    /**
     * Runs the job once and takes a checkpoint of all subtasks.
     *
     * @param fields of the class of accounts
     */
    @SuppressWarnings("try") // the class loader's scope is a resource that nobody names
    List<KeyedStateHandle> run(
            String fields, List<KeyGroupRange> subtasks, List<KeyedStateHandle> restored, Use use)
            throws Exception {
        List<KeyedStateHandle> checkpoint = new ArrayList<>();
        run++;
        try (URLClassLoader job =
                        JobClasses.compile(
                                directory.resolve("job-" + run),
                                Map.of(
                                        "Account",
                                        "public class Account { public Account() {} "
                                                + fields
                                                + " }",
                                        "Special",
                                        "public class Special extends Account {"
                                                + " public Special() {} }"));
                TemporaryClassLoaderContext asInATask = TemporaryClassLoaderContext.of(job)) {
            for (KeyGroupRange keyGroups : subtasks) {
                try (KeyedTask<Integer> task =
                        KeyedTask.startSubtask(
                                directory,
                                delegate,
                                IntSerializer.INSTANCE,
                                job,
                                keyGroups,
                                restored)) {
                    use.with(subtasks.indexOf(keyGroups), new AccountStates(task, job, keyGroups));
                    checkpoint.add(task.checkpoint(100L + run, snapshotType));
                }
            }
        }
        return checkpoint;
    }

    /** Writes all accounts without the new field, and materializes. */
    static void createBase(int subtask, AccountStates states) throws Exception {
        states.write(0);
        assertThat(states.task.materialize()).isTrue();
    }

    /** What a subtask does in a run. */
    interface Use {
        void with(int subtask, AccountStates states) throws Exception;
    }
}
