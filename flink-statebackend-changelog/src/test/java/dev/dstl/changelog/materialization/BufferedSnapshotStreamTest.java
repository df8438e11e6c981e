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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory.MemoryCheckpointOutputStream;
import org.junit.jupiter.api.Test;

class BufferedSnapshotStreamTest {

    @Property(tries = 100)
    void bytesAndPositions_areThoseOfTheWrites(@ForAll long seed) throws Exception {
        Random random = new Random(seed);
        MemoryCheckpointOutputStream store = new MemoryCheckpointOutputStream(10 << 20);
        BufferedSnapshotStream stream = new BufferedSnapshotStream(store);
        ByteArrayOutputStream expected = new ByteArrayOutputStream();

        for (int i = 0; i < 200; i++) {
            switch (random.nextInt(8)) {
                case 0:
                    stream.flush();
                    assertThat(store.getPos()).isEqualTo(expected.size());
                    break;
                case 1:
                    byte[] many = bytes(random, random.nextInt(40_000));
                    stream.write(many);
                    expected.write(many);
                    break;
                case 2:
                    byte[] some = bytes(random, 100);
                    stream.write(some, 20, 50);
                    expected.write(some, 20, 50);
                    break;
                default:
                    int oneByte = random.nextInt();
                    stream.write(oneByte);
                    expected.write(oneByte);
                    break;
            }
            assertThat(stream.getPos()).isEqualTo(expected.size());
        }

        stream.write(1);
        expected.write(1);
        assertThat(stream.closeAndGetHandle().openInputStream())
                .hasBinaryContent(expected.toByteArray());
    }

    private static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void nothingWritten_isNoFile() throws Exception {
        assertThat(
                        new BufferedSnapshotStream(new MemoryCheckpointOutputStream(1))
                                .closeAndGetHandle())
                .isNull();
    }

    @Test
    void closedStream_takesNoFurtherFile() throws Exception {
        CheckpointStateOutputStream closed = new MemoryCheckpointOutputStream(1000);
        BufferedSnapshotStream stream = new BufferedSnapshotStream(closed);
        stream.write(1);
        stream.close();
        stream.write(2);

        assertThatThrownBy(stream::closeAndGetHandle).isInstanceOf(IOException.class);
    }
}
