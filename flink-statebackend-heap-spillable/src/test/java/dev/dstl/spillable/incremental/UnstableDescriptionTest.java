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

package dev.dstl.spillable.incremental;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.junit.jupiter.api.Test;

/** A serializer that describes itself in other bytes each time, and is the same. */
class UnstableDescriptionTest extends IncrementalFixture {

    private static final int KEYS = 5000;

    @Override
    TypeSerializer<String> values() {
        EvolvingStringSerializer.latest = EvolvingStringSerializer.AS_READ;
        return new EvolvingStringSerializer(1);
    }

    @Test
    void ofAnUnchangedJob_nothingIsRewritten() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            put(key, "some value that takes some bytes " + key);
        }
        settledCheckpoint();
        for (int restore = 0; restore < 2; restore++) {
            start(store.completed());

            long id = nextId();
            KeyedStateHandle handle = write(id, CheckpointType.CHECKPOINT);
            assertThat(((IncrementalRemoteKeyedStateHandle) handle).getSharedState())
                    .isNotEmpty()
                    .allMatch(file -> file.getHandle() instanceof PlaceholderStreamStateHandle);
            assertThat(get(97)).endsWith(" 97");
        }
    }
}
