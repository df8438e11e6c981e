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

package dev.dstl.log.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.testing.FaultyStore;
import dev.dstl.log.testing.WriteFault;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FileSystemSegmentStoreTest {

    private static final SegmentName NAME =
            new SegmentName(new JobID(), SegmentName.incarnation(1, 2), 3, 1);

    private final FaultyStore files = FaultyStore.create();
    private SegmentStore store;

    @BeforeEach
    void open() throws IOException {
        store = new FileSystemSegmentStore(files.basePath().getFileSystem(), files.basePath(), 16);
    }

    @AfterEach
    void close() {
        files.close();
    }

    @Test
    void write_makesOneRequestAndNoOther() throws IOException {
        Path file = store.locate(NAME);
        store.write(file, bytes(100, 100));
        assertThat(files.segments()).containsExactly(file);
        assertThat(files.requests("create")).isEqualTo(1);
        assertThat(files.requests("getFileStatus") + files.requests("mkdirs")).isZero();
    }

    @Test
    void closeThatThrowsAfterBytesWereHandedOver_isAFailedWrite() throws IOException {
        files.failNext(WriteFault.FAIL_ON_CLOSE);
        Path file = store.locate(NAME);
        assertThatThrownBy(() -> store.write(file, bytes(100, 100)))
                .isInstanceOf(IOException.class)
                .hasMessage("Connection reset while closing");
    }

    @Test
    void streamThatTakesNothing_isAFailedWrite() throws IOException {
        files.failNext(WriteFault.FAIL_ON_WRITE);
        Path file = store.locate(NAME);
        assertThatThrownBy(() -> store.write(file, bytes(100, 100)))
                .isInstanceOf(IOException.class)
                .hasMessage("Connection reset");
    }

    @Test
    void contentShorterThanItSays_isAFailedWrite() throws IOException {
        Path file = store.locate(NAME);
        assertThatThrownBy(() -> store.write(file, bytes(100, 99)))
                .isInstanceOf(IOException.class)
                .hasMessage("The stream took 99 bytes of a segment of 100 bytes");
    }

    @Test
    void fileSystemThatNeedsDirectories_getsThem() throws IOException {
        files.needParents();
        Path file = store.locate(NAME);
        store.write(file, bytes(1, 1));
        assertThat(files.segments()).containsExactly(file);
        assertThat(files.requests("mkdirs")).isEqualTo(1);
    }

    @Test
    void deletingWhatIsNotThere_isNoFailure() throws IOException {
        Path file = store.locate(NAME);
        assertThatCode(() -> store.delete(file)).doesNotThrowAnyException();
    }

    @Test
    void deletingThatIsNotAllowed_isAFailure() throws IOException {
        Path file = store.locate(NAME);
        store.write(file, bytes(1, 1));
        files.failDeletes(true);
        assertThatThrownBy(() -> store.delete(file)).isInstanceOf(IOException.class);
    }

    private static SegmentContent bytes(long length, int written) {
        return new SegmentContent() {
            @Override
            public long length() {
                return length;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                out.write(new byte[written]);
            }
        };
    }
}
