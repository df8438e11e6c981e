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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessMemoryTest {

    private final ProcessMemory process = new ProcessMemory();

    @Test
    void largestLimitOfTheJobs_holdsForAll() {
        JobMemory small = process.join(100);
        JobMemory large = process.join(1_000);
        assertThat(process.stopBytes()).isEqualTo(1_000 - 124);
        small.reserve(MemoryUse.IN_FLIGHT, 200);
        assertThat(small.isAvailable()).isTrue();
        large.close();
        assertThat(process.stopBytes()).isEqualTo(100);
        assertThat(small.isAvailable()).isFalse();
    }

    @Test
    void allUsesOfAllJobs_countTogether() {
        JobMemory first = process.join(1_000);
        JobMemory second = process.join(1_000);
        first.reserve(MemoryUse.ACTIVE, 300);
        first.reserve(MemoryUse.IN_FLIGHT, 300);
        second.reserve(MemoryUse.ENCODING, 300);
        assertThat(first.isAvailable()).isFalse();
        assertThat(second.isAvailable()).isFalse();
        assertThat(process.reservedBytes()).isEqualTo(900);
        assertThat(process.reservedBytes(MemoryUse.IN_FLIGHT)).isEqualTo(300);
    }

    @Test
    void jobThatTakesLittle_isNotStoppedByOneThatTakesAll() {
        JobMemory greedy = process.join(1_000);
        JobMemory modest = process.join(1_000);
        greedy.reserve(MemoryUse.IN_FLIGHT, 5_000);
        assertThat(greedy.isAvailable()).isFalse();
        modest.reserve(MemoryUse.IN_FLIGHT, 124);
        assertThat(modest.isAvailable()).as("less than half of a quarter").isTrue();
        modest.reserve(MemoryUse.IN_FLIGHT, 1);
        assertThat(modest.isAvailable()).isFalse();
    }

    @Test
    void jobThatTakesAll_isStoppedBeforeThePartsOfTheOthersAreUsed() {
        JobMemory greedy = process.join(1_000);
        process.join(1_000);
        greedy.reserve(MemoryUse.IN_FLIGHT, 875);
        assertThat(greedy.isAvailable()).isTrue();
        greedy.reserve(MemoryUse.IN_FLIGHT, 1);
        assertThat(greedy.isAvailable()).isFalse();
    }

    /** The alerts about memory compare the two. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 6, 10})
    void inputStops_exactlyWhenAsMuchIsReservedAsIsSaid(int jobs) {
        JobMemory greedy = process.join(10_000);
        for (int other = 1; other < jobs; other++) {
            process.join(10_000);
        }
        IdleObjects<byte[]> idle = new IdleObjects<>(10_000, bytes -> bytes.length, process);
        process.addCache(idle::drop);
        boolean wasHigh = false;
        while (greedy.isAvailable()) {
            assertThat(process.reservedBytes()).isLessThan(process.stopBytes());
            wasHigh |= process.reservedBytes() > 0.8 * process.stopBytes();
            idle.offer(new byte[100]);
            greedy.tryReserve(MemoryUse.COMPACTION, 100);
            greedy.reserve(MemoryUse.IN_FLIGHT, 10);
        }
        assertThat(process.reservedBytes()).isGreaterThanOrEqualTo(process.stopBytes());
        assertThat(wasHigh).as("high before it is full").isTrue();
    }

    /** Else a healthy TaskManager with many jobs would warn that its memory is nearly used up. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 6, 10})
    void whatCanBeDoneWithout_takesAtMostThreeQuartersOfWhatStopsInput(int jobs) {
        JobMemory job = process.join(10_000);
        for (int other = 1; other < jobs; other++) {
            process.join(10_000);
        }
        IdleObjects<byte[]> idle = new IdleObjects<>(10_000, bytes -> bytes.length, process);
        process.addCache(idle::drop);
        while (job.tryReserve(MemoryUse.COMPACTION, 10)) {
            idle.offer(new byte[10]);
        }
        assertThat(process.reservedBytes())
                .isBetween(process.stopBytes() / 2, process.stopBytes() * 3 / 4);
    }

    @Test
    void whatCanBeDoneWithout_isRefusedBeforeInputStops() {
        JobMemory job = process.join(1_000);
        job.reserve(MemoryUse.IN_FLIGHT, 700);
        assertThat(job.tryReserve(MemoryUse.COMPACTION, 51)).isFalse();
        assertThat(job.tryReserve(MemoryUse.COMPACTION, 50)).isTrue();
        assertThat(job.isAvailable()).isTrue();
        assertThat(process.reservedBytes()).isEqualTo(750);
    }

    @Test
    void restore_stopsNoRunningJob_andHasALimitOfItsOwn() {
        JobMemory job = process.join(1_000);
        assertThat(process.tryReserveForRestore(1_500, 2_000)).isTrue();
        assertThat(process.tryReserveForRestore(501, 2_000)).isFalse();
        assertThat(process.tryReserveForRestore(500, 2_000)).isTrue();
        assertThat(job.isAvailable()).isTrue();
        assertThat(job.tryReserve(MemoryUse.COMPACTION, 750)).isTrue();
        process.releaseOfRestore(2_000);
        assertThat(process.tryReserveForRestore(2_000, 2_000)).isTrue();
    }

    @Test
    void compactionBeforeTheFirstLog_isGivenWhatItAsksFor() {
        assertThat(process.tryReserveReadAhead(1_000_000)).isTrue();
        process.releaseReadAhead(1_000_000);
        assertThat(process.reservedBytes()).isZero();
    }

    @Test
    void whatIsKeptForLater_makesRoom_andStopsNobody() {
        JobMemory job = process.join(1_000);
        IdleObjects<byte[]> idle = new IdleObjects<>(10, bytes -> bytes.length, process);
        process.addCache(idle::drop);
        idle.offer(new byte[400]);
        idle.offer(new byte[400]);
        assertThat(idle.count()).as("only three quarters are for such things").isEqualTo(1);
        job.reserve(MemoryUse.IN_FLIGHT, 599);
        assertThat(idle.count()).isEqualTo(1);
        job.reserve(MemoryUse.IN_FLIGHT, 1);
        assertThat(idle.count()).isZero();
        assertThat(job.isAvailable()).isTrue();
        assertThat(process.reservedBytes()).isEqualTo(600);
    }

    @Test
    void whatCannotBePooled_takesNoMemory() {
        process.join(1_000);
        IdleObjects<Object> pool = new IdleObjects<>(1, object -> 10, process);

        // The queue of the pool refuses null as it refuses what there is no memory for.
        pool.offer(null);

        assertThat(process.reservedBytes()).isZero();
        assertThat(pool.count()).isZero();
        pool.offer("object");
        assertThat(pool.poll()).isEqualTo("object");
        assertThat(process.reservedBytes()).isZero();
    }

    @Test
    void whatNobodyNeededForAPeriod_isLetGo() {
        process.join(1_000);
        IdleObjects<byte[]> idle = new IdleObjects<>(10, bytes -> bytes.length, process);
        idle.offer(new byte[1]);
        idle.offer(new byte[2]);
        idle.trim(0, 10);
        assertThat(idle.poll()).as("used in each period").hasSize(2);
        idle.offer(new byte[2]);
        idle.trim(9, 10);
        assertThat(idle.count()).as("too early").isEqualTo(2);
        idle.trim(10, 10);
        assertThat(idle.count()).isEqualTo(1);
        assertThat(process.reservedBytes(MemoryUse.IDLE)).isEqualTo(2);
        idle.trim(20, 10);
        assertThat(process.reservedBytes()).isZero();
    }

    @Test
    void stoppedJob_hasWhatTasksAppendToSealed_alsoThatOfOtherJobs() {
        AtomicInteger asked = new AtomicInteger();
        JobMemory job = process.join(100);
        JobMemory other = process.join(100);
        other.whenShort(asked::incrementAndGet);
        other.reserve(MemoryUse.ACTIVE, 6);
        job.reserve(MemoryUse.ACTIVE, 94);
        CompletableFuture<?> stopped = job.getAvailableFuture();
        assertThat(stopped).isNotDone();
        assertThat(job.getAvailableFuture()).isSameAs(stopped);
        assertThat(asked).as("once").hasValue(1);
        job.release(MemoryUse.ACTIVE, 94);
        assertThat(stopped).isCompleted();
    }

    @Test
    void stoppedJob_hasNothingSealedWhereThatFreesLittle() {
        AtomicInteger asked = new AtomicInteger();
        JobMemory job = process.join(100);
        JobMemory other = process.join(100);
        other.whenShort(asked::incrementAndGet);
        other.reserve(MemoryUse.ACTIVE, 5);
        job.reserve(MemoryUse.ACTIVE, 95);
        assertThat(job.isAvailable()).isFalse();
        job.release(MemoryUse.ACTIVE, 95);
        other.reserve(MemoryUse.ACTIVE, 6);
        job.reserve(MemoryUse.IN_FLIGHT, 100);
        assertThat(job.isAvailable()).isFalse();
        assertThat(asked).hasValue(0);
    }

    @Test
    void jobThatEnded_keepsNobodyWaiting_andGivesBackWhatItStillHolds() {
        JobMemory job = process.join(100);
        job.reserve(MemoryUse.IN_FLIGHT, 100);
        CompletableFuture<?> stopped = job.getAvailableFuture();
        job.close();
        job.close();
        assertThat(stopped).isCompleted();
        assertThat(job.isAvailable()).isTrue();
        assertThat(process.reservedBytes()).isEqualTo(100);
        job.release(MemoryUse.IN_FLIGHT, 100);
        assertThat(process.reservedBytes()).isZero();
    }

    @Test
    void releasingMoreThanReserved_isADefect() {
        JobMemory job = process.join(100);
        job.reserve(MemoryUse.ACTIVE, 5);
        assertThatThrownBy(() -> job.release(MemoryUse.COMPACTION, 5))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Cannot release 5 bytes of 0 (COMPACTION)");
    }

    /** A thread of an ended job may return memory while other jobs still use all of it. */
    @Test
    void whatIsGivenBackAfterTheEnd_isNotKept() {
        process.join(1_000);
        IdleObjects<byte[]> idle = new IdleObjects<>(10, bytes -> bytes.length, process);
        idle.offer(new byte[100]);

        idle.close();
        idle.offer(new byte[100]);

        assertThat(process.reservedBytes()).isZero();
    }
}
