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

package dev.dstl.log.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BoundedSeekTest {

    private static final long LENGTH = 3 * BoundedSeek.SHORT_BYTES;

    private final HadoopLikeStream stream = new HadoopLikeStream();

    @Test
    void shortWayForward_isSkipped() throws IOException {
        assertThat(BoundedSeek.move(stream, 10)).isTrue();
        assertThat(BoundedSeek.move(stream, 10 + BoundedSeek.SHORT_BYTES)).isTrue();
        assertThat(stream.position).isEqualTo(10 + BoundedSeek.SHORT_BYTES);
        assertThat(stream.seeks).isZero();
    }

    @Test
    void longWayForward_andEveryWayBack_isSought() throws IOException {
        assertThat(BoundedSeek.move(stream, 1 + BoundedSeek.SHORT_BYTES)).isTrue();
        assertThat(BoundedSeek.move(stream, 3)).isTrue();
        assertThat(stream.position).isEqualTo(3);
        assertThat(stream.seeks).isEqualTo(2);
    }

    @Test
    void placeWhereItStands_isReachedWithoutAnything() throws IOException {
        assertThat(BoundedSeek.move(stream, 0)).isTrue();
        assertThat(stream.seeks + stream.skips).isZero();
    }

    @Test
    void shortWayBehindTheEnd_ends() throws IOException {
        assertThat(BoundedSeek.move(stream, LENGTH - 5)).isTrue();
        assertThat(BoundedSeek.move(stream, LENGTH + 5)).isFalse();
        assertThat(stream.position).isEqualTo(LENGTH);
    }

    /** Skips in small steps up to the end of the file. */
    private static final class HadoopLikeStream extends FSDataInputStream {
        private static final long LONGEST_STEP = 300_000;

        private long position;
        private int seeks;
        private int skips;

        @Override
        public void seek(long offset) {
            seeks++;
            position = offset;
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public long skip(long count) {
            skips++;
            long skipped = Math.min(Math.min(count, LONGEST_STEP), LENGTH - position);
            position += skipped;
            return skipped;
        }

        @Override
        public int read() {
            return position < LENGTH ? (int) (position++ & 0xFF) : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            throw new AssertionError("Nobody reads more than a byte to see whether there is one");
        }
    }
}
