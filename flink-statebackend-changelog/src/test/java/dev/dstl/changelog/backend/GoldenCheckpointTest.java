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
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What DSTL wrote with Flink 1.20 is read by whatever this runs with. */
class GoldenCheckpointTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource({
        "HASHMAP, checkpoint",
        "HASHMAP, savepoint",
        "ROCKSDB_INCREMENTAL, checkpoint",
        "ROCKSDB_INCREMENTAL, savepoint",
        "SPILLABLE_INCREMENTAL, checkpoint",
        "SPILLABLE_INCREMENTAL, full",
        "SPILLABLE_INCREMENTAL, savepoint"
    })
    void checkpointOfFlink1_20_isRestored_andGoesOn(Delegate delegate, String kind)
            throws Exception {
        GoldenCheckpoint golden = new GoldenCheckpoint(directory);
        golden.unpack(
                String.format(
                        "flink-1.20-%s-%s.zip", delegate.name().toLowerCase(Locale.ROOT), kind));
        List<KeyedStateHandle> handles = golden.handles();
        assertThat(handles).hasSize(1);
        if (delegate == Delegate.SPILLABLE_INCREMENTAL && kind.equals("checkpoint")) {
            assertThat(GoldenCheckpoint.sharedBytes(handles.get(0)))
                    .isGreaterThan(GoldenCheckpoint.LEAST_SHARED_BYTES);
        }
        FakeJobManager jobManager = new FakeJobManager();
        jobManager.acknowledge(3, handles.get(0));
        jobManager.complete(3);

        String changed;
        try (TestTask task = golden.start(delegate, jobManager, jobManager.latest())) {
            assertThat(GoldenCheckpoint.contentsOf(task, delegate)).isEqualTo(golden.contents());

            GoldenCheckpoint.change(task, delegate, 4);
            task.checkpoint(4);
            task.materialize();
            GoldenCheckpoint.change(task, delegate, 5);
            task.checkpoint(5);
            changed = GoldenCheckpoint.contentsOf(task, delegate);
        }
        assertThat(changed).isNotEqualTo(golden.contents());
        try (TestTask task = golden.start(delegate, jobManager, jobManager.latest())) {
            assertThat(GoldenCheckpoint.contentsOf(task, delegate)).isEqualTo(changed);
        }
    }
}
