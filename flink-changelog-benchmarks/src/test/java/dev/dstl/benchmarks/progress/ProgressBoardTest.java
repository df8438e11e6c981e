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

package dev.dstl.benchmarks.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgressBoardTest {

    @TempDir Path directory;

    @Test
    void emptyBoard_saysThatNothingHappened() throws Exception {
        Progress progress = new ProgressBoard(directory.resolve("none")).read();

        assertThat(progress.records()).isZero();
        assertThat(progress.fraction()).isZero();
        assertThat(progress.sprintRecordsPerSecond(0)).isEmpty();
    }

    @Test
    void slotsOfAllSources_addUp() throws Exception {
        ProgressBoard board = new ProgressBoard(directory);
        board.source(0).advanced(100, 0.5);
        board.source(1).advanced(50, 0.25);

        assertThat(board.read().records()).isEqualTo(150);
        assertThat(board.read().fraction()).isEqualTo(0.375);
        assertThat(board.read().slowestFraction()).isEqualTo(0.25);
    }

    @Test
    void reopenedSlot_keepsThePositionOfTheLastAttempt() throws Exception {
        ProgressBoard board = new ProgressBoard(directory);
        board.source(0).advanced(100, 0.5);

        board.source(0);

        assertThat(board.read().records()).isEqualTo(100);
    }

    @Test
    void jobWorksAgain_onceEveryTaskStartedAndEveryKeyedTaskHasARecord() throws Exception {
        ProgressBoard board = new ProgressBoard(directory);
        long beforeAll = System.currentTimeMillis() - 1;
        board.source(0);
        ProgressSlot first = board.keyed(0);
        ProgressSlot second = board.keyed(1);

        first.firstRecord();
        assertThat(board.read().worksAgainAtMillis(beforeAll)).isEmpty();
        second.firstRecord();
        assertThat(board.read().worksAgainAtMillis(beforeAll)).isPresent();
        assertThat(board.read().worksAgainAtMillis(System.currentTimeMillis())).isEmpty();
    }

    @Test
    void attemptThatFailedAtOnce_doesNotCountAsWorking() throws Exception {
        ProgressBoard board = new ProgressBoard(directory);
        long beforeAll = System.currentTimeMillis() - 1;
        board.source(0);
        board.keyed(0).firstRecord();

        board.keyed(0);

        assertThat(board.read().worksAgainAtMillis(beforeAll)).isEmpty();
    }

    @Test
    void throughput_isTakenFromTheSprintOnly() throws Exception {
        ProgressBoard board = new ProgressBoard(directory);
        ProgressSlot source = board.source(0);
        source.advanced(1000, 0.6);
        source.sprintStarted(1000);
        assertThat(board.read().sprintStartedAtMillis()).isPresent();
        assertThat(board.read().sprintRecordsPerSecond(0)).isEmpty();

        source.advanced(1000, 1);
        source.ended();

        assertThat(board.read().sprintRecordsPerSecond(0)).hasValue(0);
        assertThat(board.read().sprintRecordsPerSecond(60_000)).as("too short to tell").isEmpty();
    }
}
