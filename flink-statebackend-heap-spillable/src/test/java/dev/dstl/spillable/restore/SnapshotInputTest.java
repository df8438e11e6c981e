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

package dev.dstl.spillable.restore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotInputTest {

    private static final int BYTES = 300_000;

    private final byte[] written = new byte[BYTES];

    /** A file that returns at most {@code most} bytes at a time and knows its position. */
    private final class File extends InputStream {
        private final ByteArrayInputStream bytes = new ByteArrayInputStream(written);
        private final int most;

        File(int most) {
            this.most = most;
        }

        void seek(long position) {
            bytes.reset();
            assertThat(bytes.skip(position)).isEqualTo(position);
        }

        @Override
        public int read() {
            return bytes.read();
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            return bytes.read(target, offset, Math.min(length, most));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1000, Integer.MAX_VALUE})
    void readsAndSeeksInAnyOrder_giveTheBytesOfTheirPositions(int most) throws Exception {
        Random random = new Random(most);
        random.nextBytes(written);
        File file = new File(most);
        SnapshotInput input = new SnapshotInput(file, 0);
        long position = 0;
        for (int i = 0; i < 2000; i++) {
            assertThat(input.position()).isEqualTo(position);
            if (random.nextInt(4) == 0) {
                position =
                        random.nextBoolean()
                                ? random.nextInt(BYTES)
                                : Math.min(BYTES, position + random.nextInt(3000));
                if (!input.seekInBuffer(position)) {
                    file.seek(position);
                    input.restart(position);
                }
            } else if (random.nextBoolean()) {
                int read = input.read();
                assertThat(read).isEqualTo(position == BYTES ? -1 : written[(int) position] & 0xFF);
                position = Math.min(BYTES, position + 1);
            } else {
                byte[] target = new byte[random.nextInt(i % 10 == 0 ? 150_000 : 500)];
                int read = input.readNBytes(target, 0, target.length);
                assertThat(read).isEqualTo((int) Math.min(target.length, BYTES - position));
                assertThat(Arrays.copyOf(target, read))
                        .isEqualTo(
                                Arrays.copyOfRange(written, (int) position, (int) position + read));
                position += read;
            }
        }
    }
}
