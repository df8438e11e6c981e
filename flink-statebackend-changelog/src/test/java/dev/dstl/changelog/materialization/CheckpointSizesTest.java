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

import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.junit.jupiter.api.Test;

class CheckpointSizesTest {

    private final CheckpointSizes sizes = new CheckpointSizes();
    private long logBytes;
    private long base;

    /** Adds a checkpoint that appended bytes and contains what a compaction wrote. */
    private void add(long appended, long compactedFrom, long compactedTo) {
        logBytes += appended - compactedFrom + compactedTo;
        sizes.add(
                new ChangelogStateBackendHandleImpl(
                        List.of(),
                        List.of(),
                        KeyGroupRange.of(0, 7),
                        1,
                        base,
                        appended + compactedTo),
                logBytes);
    }

    @Test
    void largestOfTheLastFourCheckpoints_counts() {
        add(100, 0, 0);
        for (int i = 0; i < 3; i++) {
            add(10, 0, 0);
            assertThat(sizes.largest()).isEqualTo(100);
        }
        add(10, 0, 0);
        assertThat(sizes.largest()).isEqualTo(10);
    }

    @Test
    void whatACompactionWrote_doesNotCount() {
        add(100, 0, 0);
        add(110, 0, 0);
        add(100, 210, 200);
        assertThat(sizes.largest()).isEqualTo(110);
    }

    @Test
    void largeCheckpoint_isForgotten_alsoWhereCompactionsEndAtEveryOtherCheckpoint() {
        add(100, 0, 0);
        for (int i = 0; i < 3; i++) {
            add(10, 60, 50);
            add(10, 0, 0);
        }
        assertThat(sizes.largest()).isEqualTo(10);
    }
}
