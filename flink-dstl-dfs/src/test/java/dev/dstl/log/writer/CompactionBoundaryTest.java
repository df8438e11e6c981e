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

package dev.dstl.log.writer;

import static dev.dstl.log.testing.LogFixture.texts;
import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Materializations that fail leave no boundary that compactions do not cross. */
class CompactionBoundaryTest {

    private final CompactedLog changelog = new CompactedLog();

    @AfterEach
    void close() {
        changelog.close();
    }

    @Test
    void materializationsThatFail_leaveNothingThatCompactionsDoNotCross() throws Exception {
        changelog.open("until-success");
        for (int i = 0; i < CompactedLog.CHECKPOINTS / 3; i++) {
            SequenceNumber at = changelog.writer.nextSequenceNumber();
            changelog.writer.addCompactionBoundary();
            changelog.checkpoints(3);
            changelog.writer.removeCompactionBoundary(at);
        }
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    @Test
    void materializationThatFailsWhereABaseBegins_leavesThePlaceMarked() throws Exception {
        changelog.open("until-success");
        changelog.checkpoints(3);
        changelog.base = changelog.writer.nextSequenceNumber();
        changelog.writer.addCompactionBoundary();
        changelog.writer.addCompactionBoundary();
        changelog.writer.removeCompactionBoundary(changelog.base);
        changelog.expected.clear();
        changelog.checkpoints(CompactedLog.CHECKPOINTS / 10);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
        changelog.writer.truncate(changelog.base);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }
}
