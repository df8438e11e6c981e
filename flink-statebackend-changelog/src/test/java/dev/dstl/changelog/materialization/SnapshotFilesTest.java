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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;

class SnapshotFilesTest {

    private final List<String> deleted = new ArrayList<>();
    private int written;

    @Test
    void fileWhoseDeletionEndsWithAnError_leavesNoOtherFileBehind() throws Exception {
        SnapshotFiles files = new SnapshotFiles(new Streams(), Runnable::run);
        for (int i = 0; i < 3; i++) {
            CheckpointStateOutputStream file =
                    files.createCheckpointStateOutputStream(CheckpointedStateScope.EXCLUSIVE);
            file.write(1);
            file.closeAndGetHandle();
        }

        assertThatThrownBy(files::discard)
                .isInstanceOf(NoClassDefFoundError.class)
                .hasMessage("file 0");
        assertThat(deleted).containsExactly("file 1", "file 2");
    }

    private final class Streams extends MemCheckpointStreamFactory {

        private Streams() {
            super(1 << 20);
        }

        @Override
        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                CheckpointedStateScope scope) throws IOException {
            return new MemoryCheckpointOutputStream(1 << 20) {
                @Override
                public StreamStateHandle closeAndGetHandle() {
                    int number = written++;
                    return new DiscardedFile("file " + number, number == 0, deleted);
                }
            };
        }
    }
}
