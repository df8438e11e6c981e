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

package dev.dstl.log.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;

/**
 * Several jobs reserve and release memory at random, on threads, while other jobs join and leave.
 * Copies give way to other uses.
 */
@Timeout(120)
class ProcessMemoryRandomTest {

    private static final int THREADS = 6;
    private static final int STEPS = 3_000;
    private static final long LIMIT = 10_000;
    private static final MemoryUse[] REFUSABLE = {
        MemoryUse.COMPACTION, MemoryUse.LOCAL_COPIES, MemoryUse.UPLOAD_BUFFERS
    };
    private static final MemoryUse[] NEEDED = {
        MemoryUse.ACTIVE, MemoryUse.IN_FLIGHT, MemoryUse.ENCODING
    };

    private final ProcessMemory process = new ProcessMemory();
    private final Map<JobMemory, Queue<Reservation>> copies = new HashMap<>();
    private final IdleObjects<byte[]> idle = new IdleObjects<>(20, bytes -> bytes.length, process);

    @RepeatedTest(5)
    void neverNegative_zeroAtTheEnd_andNobodyWaitsInVain() throws Exception {
        long seed = new Random().nextLong();
        process.addCache(idle::drop);
        List<JobMemory> jobs = new ArrayList<>();
        for (int job = 0; job < 3; job++) {
            JobMemory joined = process.join(LIMIT);
            jobs.add(joined);
            copies.put(joined, new ConcurrentLinkedQueue<>());
            joined.whenRefused(() -> giveWay(joined));
        }
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                JobMemory job = jobs.get(thread % jobs.size());
                Random random = new Random(seed + thread);
                ends.add(threads.submit(() -> work(job, random)));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } catch (Exception | AssertionError e) {
            throw new AssertionError("seed " + seed, e);
        } finally {
            threads.shutdownNow();
        }
        jobs.forEach(job -> assertThat(job.reservedBytes()).as("seed %d", seed).isZero());
        jobs.forEach(job -> assertThat(job.isAvailable()).as("seed %d", seed).isTrue());
        idle.drop();
        assertThat(process.reservedBytes()).as("seed %d", seed).isZero();
        assertThat(process.stopped).as("seed %d", seed).hasValue(0);
        for (MemoryUse use : MemoryUse.values()) {
            assertThat(process.reservedBytes(use)).as("%s, seed %d", use, seed).isZero();
        }
    }

    private void giveWay(JobMemory job) {
        Queue<Reservation> waiting = copies.get(job);
        for (Reservation next = waiting.poll(); next != null; next = waiting.poll()) {
            next.release(job);
        }
    }

    /** Behaves like a task: appends while memory is available, and waits only for its uploads. */
    private Void work(JobMemory job, Random random) throws Exception {
        ArrayDeque<Reservation> held = new ArrayDeque<>();
        for (int step = 0; step < STEPS; step++) {
            int choice = random.nextInt(100);
            long bytes = 1L + random.nextInt((int) LIMIT / 10);
            if (choice < 40) {
                job.reserve(NEEDED[choice % NEEDED.length], bytes);
                held.add(new Reservation(NEEDED[choice % NEEDED.length], bytes));
            } else if (choice < 55) {
                MemoryUse use = REFUSABLE[choice % REFUSABLE.length];
                if (job.tryReserve(use, bytes)) {
                    held.add(new Reservation(use, bytes));
                    if (use == MemoryUse.LOCAL_COPIES) {
                        copies.get(job).add(held.getLast());
                    }
                }
            } else if (choice < 90 && !held.isEmpty()) {
                held.poll().release(job);
            } else if (choice < 95) {
                idle.offer(new byte[(int) bytes]);
            } else if (choice < 97) {
                idle.poll();
            } else if (choice < 98) {
                process.join(LIMIT / 2 + random.nextInt((int) LIMIT)).close();
            }
            assertThat(process.reservedBytes(MemoryUse.IDLE)).isNotNegative();
            CompletableFuture<?> available = job.getAvailableFuture();
            if (!available.isDone()) {
                held.forEach(reservation -> reservation.release(job));
                held.clear();
                available.get(60, TimeUnit.SECONDS);
            }
        }
        held.forEach(reservation -> reservation.release(job));
        return null;
    }

    private static final class Reservation {
        private final MemoryUse use;
        private final long bytes;
        private final AtomicBoolean released = new AtomicBoolean();

        private Reservation(MemoryUse use, long bytes) {
            this.use = use;
            this.bytes = bytes;
        }

        private void release(JobMemory job) {
            if (!released.getAndSet(true)) {
                job.release(use, bytes);
            }
        }
    }
}
