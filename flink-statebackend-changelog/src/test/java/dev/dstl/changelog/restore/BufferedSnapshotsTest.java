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

package dev.dstl.changelog.restore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Paths;
import java.util.List;
import java.util.UUID;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.DirectoryStateHandle;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;

class BufferedSnapshotsTest {

    private static final KeyGroupRange KEY_GROUPS = KeyGroupRange.of(2, 5);

    private final KeyGroupRangeOffsets offsets =
            new KeyGroupRangeOffsets(KEY_GROUPS, new long[] {0, 1, 2, 3});
    private final ByteStreamStateHandle file =
            new ByteStreamStateHandle("file", new byte[] {7, 8, 9, 10});

    @Test
    void fullSnapshots_keepTheirKindAndPlaces_andAreBuffered() throws Exception {
        for (KeyGroupsStateHandle full :
                List.of(
                        new KeyGroupsStateHandle(offsets, file),
                        new KeyGroupsSavepointStateHandle(offsets, file))) {
            KeyedStateHandle buffered = BufferedSnapshots.of(List.of(full)).get(0);

            assertThat(buffered).isExactlyInstanceOf(full.getClass());
            KeyGroupsStateHandle restored = (KeyGroupsStateHandle) buffered;
            assertThat(restored.getGroupRangeOffsets()).isEqualTo(offsets);
            assertThat(restored.getStateSize()).isEqualTo(4);
            assertThat(restored.getDelegateStateHandle().toString()).isEqualTo(file.toString());
            try (FSDataInputStream stream = restored.openInputStream()) {
                assertThat(stream).isInstanceOf(BufferedStateStream.class);
                stream.seek(restored.getOffsetForKeyGroup(4));
                assertThat(stream.read()).isEqualTo(9);
            }
        }
    }

    @Test
    void otherSnapshots_areGivenToTheDelegateAsTheyAre() {
        KeyedStateHandle incremental =
                new IncrementalLocalKeyedStateHandle(
                        UUID.randomUUID(),
                        1,
                        new DirectoryStateHandle(Paths.get("state"), 0),
                        KEY_GROUPS,
                        file,
                        List.of());

        assertThat(BufferedSnapshots.of(List.of(incremental)).get(0)).isSameAs(incremental);
    }
}
