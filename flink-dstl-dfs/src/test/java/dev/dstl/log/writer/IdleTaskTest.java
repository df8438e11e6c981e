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

import static dev.dstl.log.testing.LogFixture.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.memory.JobMemory;
import dev.dstl.log.memory.MemoryUse;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.QueuedMailbox;
import dev.dstl.log.testing.WriteFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** State changes of a task that appends nothing any more are uploaded. */
class IdleTaskTest {

    private static final long MAX_AGE_MILLIS = 5_000;
    private static final int LIMIT = 1 << 20;

    private final QueuedMailbox mailbox = new QueuedMailbox();
    private final LogFixture log =
            LogFixture.onCallingThread(
                    new Configuration()
                            .set(DstlOptions.MAX_AGE, Duration.ofMillis(MAX_AGE_MILLIS))
                            .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(LIMIT))
                            .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(LIMIT)));
    private final DstlLogWriter writer = log.writerWith(mailbox);

    @AfterEach
    void close() {
        writer.close();
        assertThat(log.budget().memory().reservedBytes()).as("reserved").isZero();
        log.close();
    }

    @Test
    void changesOfAnIdleTask_areUploadedWhenTheyAreTwiceAsOldAsTheMaxAge() {
        log.timers().advanceMillis(1_000);
        append(writer, "a".repeat(LIMIT / 4));
        log.timers().advanceMillis(MAX_AGE_MILLIS);
        assertThat(mailbox.size()).as("younger than the max-age").isZero();
        log.timers().advanceMillis(MAX_AGE_MILLIS);
        mailbox.runAll();
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
    }

    @Test
    void taskWithoutChanges_isNotWoken() {
        append(writer, "a");
        writer.nextSequenceNumber();
        log.timers().advanceMillis(100 * MAX_AGE_MILLIS);
        assertThat(mailbox.size()).isZero();
    }

    @Test
    void taskThatDoesNotLookIntoItsMailbox_isSentOneMail_andSealsWhenItAppends() {
        append(writer, "a");
        log.timers().advanceMillis(100 * MAX_AGE_MILLIS);
        assertThat(mailbox.size()).isEqualTo(1);
        append(writer, "b");
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
        append(writer, "c");
        mailbox.runAll();
        log.passLinger();
        assertThat(log.store().segments()).as("the mail came too late").hasSize(1);
    }

    @Test
    void taskThatEnded_doesNotHearOfIt() {
        append(writer, "a");
        mailbox.close();
        assertThatCode(() -> log.timers().advanceMillis(3 * MAX_AGE_MILLIS))
                .doesNotThrowAnyException();
    }

    @Test
    void mailToALogThatIsClosed_doesNothing() {
        append(writer, "a");
        log.timers().advanceMillis(3 * MAX_AGE_MILLIS);
        writer.close();
        assertThatCode(mailbox::runAll).doesNotThrowAnyException();
    }

    @Test
    void mailToALogOfAStorageThatIsClosed_doesNotFailTheTask() {
        append(writer, "a");
        log.timers().advanceMillis(3 * MAX_AGE_MILLIS);
        log.commit().close();
        assertThatCode(mailbox::runAll).doesNotThrowAnyException();
    }

    @Test
    void whenMemoryIsShort_idleTasksSealWhatTheyHave_howeverYoungItIs() {
        append(writer, "a".repeat(LIMIT / 4));
        assertThat(log.budget().memory().process().reservedBytes(MemoryUse.ACTIVE)).isPositive();
        log.budget().reserve(LIMIT);
        assertThat(log.budget().isAvailable()).isFalse();
        log.timers().advanceMillis(0);
        mailbox.runAll();
        log.passLinger();
        assertThat(log.store().segments()).hasSize(1);
        assertThat(log.budget().memory().process().reservedBytes(MemoryUse.ACTIVE)).isZero();
        log.budget().release(LIMIT);
    }

    @Test
    void whenMemoryIsTight_batchesAreSealedWhileTheyAreSmall() {
        log.store().failAlways(WriteFault.FAIL_ON_CLOSE);
        append(writer, "a".repeat(LIMIT / 2));
        long before = log.budget().reservedBytes();
        for (int i = 0; i < 10; i++) {
            append(writer, "b".repeat(1 << 17));
        }
        assertThat(log.budget().reservedBytes() - before).isGreaterThan(LIMIT / 2);
        log.store().failAlways(WriteFault.NONE);
        log.timers().advanceMillis(60_000);
    }

    @Test
    void whenCompactionHoldsTheMemory_batchesKeepTheirSize() {
        try (LogFixture roomy =
                LogFixture.onCallingThread(
                        new Configuration()
                                .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(LIMIT))
                                .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(16 * LIMIT)))) {
            JobMemory memory = roomy.budget().memory();
            memory.reserve(MemoryUse.COMPACTION, 12 * LIMIT);
            DstlLogWriter only = roomy.writerWith(mailbox);
            for (int i = 0; i < 7; i++) {
                append(only, "a".repeat(LIMIT / 8));
            }
            assertThat(memory.process().reservedBytes(MemoryUse.ACTIVE))
                    .as("a batch of seven eighths of the usual size is not sealed yet")
                    .isGreaterThan(3 * LIMIT / 4);
            only.close();
            memory.release(MemoryUse.COMPACTION, 12 * LIMIT);
        }
    }

    @Test
    void whenActiveBatchesOfManyTasksHoldTheMemory_theyAreSealedWhileTheyAreSmall() {
        try (LogFixture crowded =
                LogFixture.onCallingThread(
                        new Configuration()
                                .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(LIMIT))
                                .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(16 * LIMIT)))) {
            JobMemory memory = crowded.budget().memory();
            List<DstlLogWriter> writers = new ArrayList<>();
            for (int task = 0; task < 64; task++) {
                writers.add(crowded.writerWith(mailbox));
            }
            for (int i = 0; i < 7; i++) {
                writers.forEach(writer -> append(writer, "a".repeat(LIMIT / 8)));
            }
            assertThat(memory.process().reservedBytes(MemoryUse.ACTIVE))
                    .as("they would hold 56 MiB at the usual size")
                    .isLessThan(16 * LIMIT);
            writers.forEach(DstlLogWriter::close);
        }
    }
}
