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

package dev.dstl.changelog.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.junit.jupiter.api.Test;

class BufferedStateStreamTest {

    private static final int LENGTH = 1_000;

    private final byte[] content = new byte[LENGTH];
    private int reads;

    BufferedStateStreamTest() {
        new Random(1).nextBytes(content);
    }

    @Property(tries = 200)
    void readsSeeksAndSkips_areThoseOfTheStreamBelow(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 300) int bufferBytes)
            throws IOException {
        Random random = new Random(seed);
        try (FSDataInputStream plain = stream();
                BufferedStateStream buffered = new BufferedStateStream(stream(), bufferBytes)) {
            for (int i = 0; i < 200; i++) {
                step(random, plain, buffered);
                assertThat(buffered.getPos()).isEqualTo(plain.getPos());
            }
        }
    }

    private void step(Random random, FSDataInputStream plain, BufferedStateStream buffered)
            throws IOException {
        switch (random.nextInt(4)) {
            case 0:
                assertThat(buffered.read()).isEqualTo(plain.read());
                break;
            case 1:
                long position = random.nextInt(LENGTH);
                plain.seek(position);
                buffered.seek(position);
                break;
            case 2:
                long skipped = buffered.skip(random.nextInt(50));
                plain.seek(plain.getPos() + skipped);
                break;
            default:
                byte[] found = new byte[random.nextInt(400)];
                int count = buffered.read(found, 0, found.length);
                byte[] expected = new byte[Math.max(0, count)];
                if (count < 0) {
                    assertThat(plain.read()).isEqualTo(-1);
                } else {
                    new DataInputViewStreamWrapper(plain).readFully(expected);
                }
                assertThat(Arrays.copyOf(found, expected.length)).isEqualTo(expected);
        }
    }

    @Test
    void bytesReadOneByOne_areFetchedTogether() throws IOException {
        try (BufferedStateStream buffered = new BufferedStateStream(stream(), 256)) {
            for (byte expected : content) {
                assertThat((byte) buffered.read()).isEqualTo(expected);
            }
            assertThat(buffered.read()).isEqualTo(-1);
        }
        assertThat(reads).as("fetches of 256 bytes").isEqualTo(4);
    }

    @Test
    void keyGroupsInARow_areNotFetchedTwice() throws IOException {
        try (BufferedStateStream buffered = new BufferedStateStream(stream(), LENGTH)) {
            for (int offset = 0; offset < LENGTH; offset += 100) {
                buffered.seek(offset);
                assertThat((byte) buffered.read()).isEqualTo(content[offset]);
            }
        }
        assertThat(reads).isEqualTo(1);
    }

    @Test
    void snapshotThatIsTooShort_endsAsItDoesUnbuffered() throws IOException {
        try (BufferedStateStream buffered = new BufferedStateStream(stream(), 64)) {
            buffered.seek(LENGTH - 3);
            assertThatThrownBy(() -> new DataInputViewStreamWrapper(buffered).readLong())
                    .isInstanceOf(EOFException.class);
        }
    }

    private FSDataInputStream stream() throws IOException {
        FSDataInputStream inMemory = new ByteStreamStateHandle("s", content).openInputStream();
        return new FSDataInputStream() {
            @Override
            public void seek(long position) throws IOException {
                inMemory.seek(position);
            }

            @Override
            public long getPos() throws IOException {
                return inMemory.getPos();
            }

            @Override
            public int read() throws IOException {
                reads++;
                return inMemory.read();
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                int count = inMemory.read(target, offset, length);
                reads += count > 0 ? 1 : 0;
                return count;
            }
        };
    }
}
