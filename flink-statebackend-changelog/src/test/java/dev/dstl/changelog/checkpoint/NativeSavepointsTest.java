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

package dev.dstl.changelog.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;

class NativeSavepointsTest {

    @Test
    void savepointCancelledAsItsDelegateFinishes_deletesWhatTheDelegateWrote() {
        boolean[] discarded = new boolean[1];
        KeyedStateHandle written =
                new KeyGroupsStateHandle(
                        new KeyGroupRangeOffsets(KeyGroupRange.of(0, 7)),
                        new ByteStreamStateHandle("savepoint", new byte[1]) {
                            private static final long serialVersionUID = 1L;

                            @Override
                            public void discardState() {
                                discarded[0] = true;
                            }
                        });
        AtomicReference<CheckpointFuture> savepoint = new AtomicReference<>();
        FutureTask<SnapshotResult<KeyedStateHandle>> snapshot =
                new FutureTask<>(() -> SnapshotResult.of(written)) {
                    @Override
                    protected void done() {
                        savepoint.get().cancel(true);
                    }
                };
        savepoint.set(NativeSavepoints.follow(1, snapshot));

        savepoint.get().run();

        assertThat(savepoint.get().isCancelled()).isTrue();
        assertThat(discarded[0]).isTrue();
    }
}
