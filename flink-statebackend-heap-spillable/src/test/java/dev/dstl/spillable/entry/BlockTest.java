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

package dev.dstl.spillable.entry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.chunk.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockTest {

    @TempDir Path disk;
    private PoolOnDisk disks;
    private OffHeapMemory memory;

    @BeforeEach
    void open() throws IOException {
        disks = new PoolOnDisk(disk, 1 << 20);
        memory = disks.pool().memory();
    }

    @AfterEach
    void close() throws IOException {
        disks.close();
    }

    private Block block(int used) {
        Block block = new Block(memory, 7, memory.allocateBlock(4096), 4096);
        for (int i = 0; i < used; i++) {
            block.segment.put(i, (byte) i);
        }
        block.used = used;
        return block;
    }

    @Test
    void entriesThatNoViewSees_mayChange() {
        Block block = block(100);
        assertThat(block.isMutable(0)).isTrue();

        block.holdForView();
        block.used = 200;

        assertThat(block.isMutable(99)).as("seen by the view").isFalse();
        assertThat(block.isMutable(100)).as("appended since").isTrue();
        block.release();
        assertThat(block.isMutable(0)).as("with the view closed").isTrue();
        block.release();
    }

    @Test
    void aLaterView_seesMore() {
        Block block = block(100);
        block.holdForView();
        block.used = 200;
        block.holdForView();

        assertThat(block.isMutable(150)).isFalse();
        block.release();
        assertThat(block.isMutable(150)).as("one of two views is still open").isFalse();
        block.release();
        assertThat(block.isMutable(150)).isTrue();
        block.release();
    }

    @Test
    void aSealedBlock_hasTheSameEntriesAndNeverChanges() throws IOException {
        Block block = block(1000);
        block.dead = 40;
        Extent extent = memory.chunks().write(block.segment, block.used);

        Block sealed = block.sealed(extent);
        block.release();

        assertThat(sealed.isSealed()).isTrue();
        assertThat(sealed.id).isEqualTo(7);
        assertThat(sealed.used).isEqualTo(1000);
        assertThat(sealed.capacity).isEqualTo(1000);
        assertThat(sealed.dead).isEqualTo(40);
        assertThat(sealed.isMutable(0)).isFalse();
        for (int i = 0; i < 1000; i++) {
            assertThat(sealed.segment.get(sealed.base + i)).isEqualTo((byte) i);
        }
        sealed.release();
    }

    @Test
    void aSealedBlock_isReadPastItsMappingToo() throws IOException {
        Block first = block(500);
        Block second = block(300);
        second.segment.put(17, (byte) 99);
        Block sealedFirst = first.sealed(memory.chunks().write(first.segment, 500));
        Block sealedSecond = second.sealed(memory.chunks().write(second.segment, 300));
        first.release();
        second.release();

        ByteBuffer read = ByteBuffer.allocate(10);
        sealedSecond.read(read, 15);

        assertThat(read.array()).containsExactly(15, 16, 99, 18, 19, 20, 21, 22, 23, 24);
        sealedFirst.release();
        sealedSecond.release();
    }

    @Test
    void theLastHolder_givesMemoryAndExtentBack() throws IOException {
        Block block = block(100);
        Block sealed = block.sealed(memory.chunks().write(block.segment, 100));
        block.holdForView();
        sealed.holdForView();

        block.release();
        sealed.release();
        assertThat(memory.budget().blockBytes()).isEqualTo(4096);
        assertThat(memory.chunks().occupiedBytes()).isPositive();

        block.release();
        sealed.release();
        assertThat(memory.budget().blockBytes()).isZero();
        assertThat(memory.chunks().occupiedBytes()).isZero();
    }
}
