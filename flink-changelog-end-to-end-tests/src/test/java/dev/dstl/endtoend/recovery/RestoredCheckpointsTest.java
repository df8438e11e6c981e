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

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.flink.core.execution.RestoreMode;
import org.junit.jupiter.api.Test;

@SuppressWarnings("deprecation") // Flink advises against LEGACY, and supports it.
class RestoredCheckpointsTest {

    private static final Path FIRST = Path.of("chk-1");
    private static final Path SECOND = Path.of("chk-2");

    private final RestoredCheckpoints restored = new RestoredCheckpoints();

    @Test
    void claimOfACheckpoint_takesTheFilesThatItSharesWithOneRestoredBefore() {
        restored.add(FIRST, RestoreMode.LEGACY);
        assertThat(restored.whole()).containsExactly(FIRST);

        restored.add(SECOND, RestoreMode.CLAIM);
        assertThat(restored.whole()).isEmpty();
        assertThat(restored.claimed()).containsExactly(SECOND, FIRST);
    }

    @Test
    void fullSnapshotInBetween_keepsTheOneRestoredBeforeWhole() {
        restored.add(FIRST, RestoreMode.LEGACY);
        restored.addSavepoint();
        restored.add(SECOND, RestoreMode.CLAIM);
        assertThat(restored.whole()).containsExactly(FIRST);
        assertThat(restored.claimed()).containsExactly(SECOND);
    }
}
