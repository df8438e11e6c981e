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

package dev.dstl.log;

import static dev.dstl.log.testing.LogFixture.KEY_GROUPS;
import static dev.dstl.log.testing.LogFixture.handleOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.QueuedMailbox;
import dev.dstl.log.testing.WriteFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several jobs on one TaskManager share its changelog memory. */
@Timeout(120)
class SessionTaskManagerTest {

    private static final int JOBS = 8;
    private static final int TASKS = 2;
    private static final int RECORD_BYTES = 10_000;
    private static final long LIMIT = 16 << 20;

    /** One page, and a record that does not fit in it. */
    private static final long OVERSHOOT_OF_A_TASK = 2 << 16;

    private final FaultyStore store = FaultyStore.create();
    private final QueuedMailbox mailbox = new QueuedMailbox();
    private final List<DstlStorage> jobs = new ArrayList<>();
    private final List<List<ChangelogWriter>> tasks = new ArrayList<>();

    @AfterEach
    void close() {
        endJobs();
        store.close();
    }

    private void endJobs() {
        tasks.forEach(job -> job.forEach(ChangelogWriter::close));
        jobs.forEach(DstlStorage::close);
    }

    private DstlStorage startJob(FaultyStore in) {
        DstlStorage job =
                new DstlStorage(
                        new JobID(),
                        new Configuration()
                                .set(DstlOptions.BASE_PATH, in.basePath().toString())
                                .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO)
                                .set(DstlOptions.MAX_AGE, Duration.ofMillis(20))
                                .set(DstlOptions.PERSIST_SIZE_THRESHOLD, new MemorySize(1 << 20))
                                .set(
                                        DstlOptions.PREEMPTIVE_PERSIST_THRESHOLD,
                                        new MemorySize(1 << 20))
                                .set(DstlOptions.MAX_IN_FLIGHT, new MemorySize(LIMIT))
                                .set(DstlOptions.UPLOAD_THREADS, 2)
                                .set(DstlOptions.MAX_SLOW_ATTEMPTS, 1),
                        new UnregisteredMetricsGroup());
        List<ChangelogWriter> writers = new ArrayList<>();
        for (int task = 0; task < TASKS; task++) {
            writers.add(job.createWriter("operator" + task, KEY_GROUPS, mailbox));
        }
        jobs.add(job);
        tasks.add(writers);
        return job;
    }

    private static boolean takesInput(DstlStorage job) {
        return job.getAvailabilityProvider().getAvailableFuture().isDone();
    }

    /** Appends records of all key groups until no task may take input. */
    private long fill() throws Exception {
        byte[] record = new byte[RECORD_BYTES];
        long appended = 0;
        boolean any = true;
        while (any) {
            any = false;
            mailbox.runAll();
            for (int job = 0; job < jobs.size(); job++) {
                for (ChangelogWriter writer : tasks.get(job)) {
                    if (takesInput(jobs.get(job))) {
                        writer.append(1, record);
                        appended += RECORD_BYTES;
                        any = true;
                    }
                }
            }
        }
        return appended;
    }

    @Test
    void eightJobs_onAStoreThatHangs_stayWithinOneLimit() throws Exception {
        for (int job = 0; job < JOBS; job++) {
            startJob(store);
        }
        store.failAlways(WriteFault.HANG);
        assertThat(fill()).isBetween(LIMIT / 4, LIMIT + JOBS * TASKS * OVERSHOOT_OF_A_TASK);
    }

    @Test
    void everythingThatCounts_staysWithinTheLimit_andIsGivenBack() throws Exception {
        ProcessMemory memory = ProcessMemory.shared();
        await(() -> memory.stopBytes() == 0 && memory.reservedBytes() == 0);
        for (int job = 0; job < JOBS; job++) {
            startJob(store);
        }
        store.failAlways(WriteFault.HANG);
        fill();
        assertThat(memory.stopBytes()).isEqualTo(LIMIT - (JOBS - 1) * (LIMIT / 4 / JOBS - 1));
        // While a batch is encoded, its segment takes memory as well.
        long encoding = (1L + Runtime.getRuntime().availableProcessors()) * (2 << 20);
        assertThat(memory.reservedBytes())
                .isLessThan(LIMIT + JOBS * TASKS * OVERSHOOT_OF_A_TASK + encoding);
        endJobs();
        store.failAlways(WriteFault.NONE);
        store.releaseHanging();
        await(() -> memory.reservedBytes() == 0);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited in vain").isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    @Test
    void jobThatFillsTheMemory_doesNotStopAnotherForGood() throws Exception {
        startJob(store);
        store.failAlways(WriteFault.HANG);
        fill();
        try (FaultyStore healthy = FaultyStore.create()) {
            DstlStorage other = startJob(healthy);
            ChangelogWriter writer = tasks.get(1).get(0);
            for (int checkpoint = 1; checkpoint < 100; checkpoint++) {
                other.getAvailabilityProvider().getAvailableFuture().get(30, TimeUnit.SECONDS);
                writer.append(1, new byte[RECORD_BYTES]);
                handleOf(writer.persist(writer.nextSequenceNumber(), checkpoint));
            }
        }
        assertThat(takesInput(jobs.get(0))).isFalse();
    }

    @Test
    void taskThatIsIdle_uploadsItsChangesWhenTheyGrowOld() throws Exception {
        startJob(store);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        tasks.get(0).get(0).append(1, new byte[RECORD_BYTES]);
        while (store.segments().isEmpty()) {
            assertThat(System.nanoTime()).as("nothing was uploaded").isLessThan(deadline);
            mailbox.runAll();
            Thread.sleep(5);
        }
    }
}
