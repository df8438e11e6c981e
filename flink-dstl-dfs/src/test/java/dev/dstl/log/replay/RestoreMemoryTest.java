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

package dev.dstl.log.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.memory.ProcessMemory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;

class RestoreMemoryTest {

    private final AtomicBoolean heapHasRoom = new AtomicBoolean(true);
    private final ProcessMemory process = new ProcessMemory();
    private final RestoreMemory memory = new RestoreMemory(process, 100, 300, heapHasRoom::get);

    @Test
    void heapWithRoom_givesMoreThanTheBase() {
        assertThat(memory.tryReserve(300)).isTrue();
        assertThat(memory.tryReserve(1)).isFalse();
    }

    @Test
    void fullHeap_givesTheBaseOnly() {
        heapHasRoom.set(false);
        assertThat(memory.tryReserve(101)).isFalse();
        assertThat(memory.tryReserve(100)).isTrue();
        assertThat(memory.tryReserve(1)).isFalse();
    }

    @Test
    void restoresOfSeveralJobs_shareTheMemoryOfTheProcess() {
        RestoreMemory another = new RestoreMemory(process, 100, 300, heapHasRoom::get);
        assertThat(memory.tryReserve(200)).isTrue();
        assertThat(another.tryReserve(101)).isFalse();
        memory.release(200);
        assertThat(another.tryReserve(300)).isTrue();
    }

    @Test
    void configuredSize_isTheLimitWhateverTheHeapHas() {
        Configuration configuration = new Configuration();
        configuration.set(DstlOptions.RESTORE_READ_AHEAD, MemorySize.parse("3 mb"));
        assertThat(DstlSettings.readAheadWithRoomBytes(configuration)).isEqualTo(3 << 20);
        assertThat(DstlSettings.readAheadBytes(configuration)).isEqualTo(3 << 20);
    }

    @Test
    void nothingConfigured_limitsReadAheadToAQuarterOfTheHeap() {
        long heap = Runtime.getRuntime().maxMemory();
        assertThat(DstlSettings.readAheadWithRoomBytes(new Configuration()))
                .isEqualTo(Math.min(512L << 20, Math.max(64 << 20, heap / 4)));
    }

    @Test
    void occupancyOfTheHeap_countsWhatSurvivedCollections() {
        assertThat(HeapOccupancy.isLessThanHalf()).isTrue();
        byte[][] kept = new byte[64][];
        long tenth = Runtime.getRuntime().maxMemory() / 10;
        for (int i = 0; i < 6; i++) {
            // Larger than half of a region of G1, so old from the beginning.
            kept[i] = new byte[(int) Math.min(tenth, Integer.MAX_VALUE - 8)];
        }
        if (tenth < Integer.MAX_VALUE - 8) {
            assertThat(HeapOccupancy.isLessThanHalf()).isFalse();
        }
        assertThat(kept[5]).isNotEmpty();
    }
}
