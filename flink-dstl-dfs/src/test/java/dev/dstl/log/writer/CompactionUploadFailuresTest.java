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

import dev.dstl.log.testing.WriteFault;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The number of runs of a changelog stays bounded while uploads of compactions fail or hang. */
class CompactionUploadFailuresTest {

    private final CompactedLog changelog = new CompactedLog();

    @AfterEach
    void close() {
        changelog.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "fixed"})
    void uploadsOfCompactionsThatAreSuspended_areBegunAgain(String retryPolicy) throws Exception {
        changelog.open(retryPolicy);
        AtomicInteger writes = new AtomicInteger();
        AtomicBoolean compacting = new AtomicBoolean();
        changelog
                .store()
                .failBy(
                        path ->
                                compacting.get() && writes.incrementAndGet() % 13 != 0
                                        ? WriteFault.FAIL_ON_CLOSE
                                        : WriteFault.NONE);
        for (int i = 0; i < CompactedLog.CHECKPOINTS / 3; i++) {
            changelog.persistAndUpload();
            compacting.set(true);
            changelog.afterwards();
            compacting.set(false);
        }
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isPositive();
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }

    /** Like an upload on a dead connection. */
    @Test
    void uploadOfACompactionThatNeverEnds_isGivenUp() throws Exception {
        changelog.open("until-success");
        boolean lost = false;
        for (int i = 0; i < CompactedLog.CHECKPOINTS / 5; i++) {
            changelog.persistAndUpload();
            if (!lost && i > 20 && changelog.executor.size() > 0) {
                lost = !changelog.executor.takeAll().isEmpty();
            }
            changelog.afterwards();
        }
        assertThat(lost).isTrue();
        assertThat(changelog.metrics().count("numberOfCompactionFailures")).isEqualTo(1);
        assertThat(changelog.mostRuns).as("runs").isLessThan(CompactedLog.MOST_RUNS);
        assertThat(texts(changelog.checkpoint())).isEqualTo(changelog.expected);
    }
}
