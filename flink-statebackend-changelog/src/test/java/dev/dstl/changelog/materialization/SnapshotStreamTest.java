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

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SnapshotStreamTest {

    private final StreamStateHandle file = new ByteStreamStateHandle("file", new byte[1]);
    private final List<String> calls = new ArrayList<>();
    private final List<StreamStateHandle> written = new ArrayList<>();
    private final Queue<Runnable> later = new ArrayDeque<>();
    private ThrowingRunnable<IOException> duringCall = () -> {};

    private final SnapshotStream stream =
            new SnapshotStream(new RecordedStream(), written::add, later::add);

    @AfterEach
    void forgetInterrupt() {
        Thread.interrupted();
    }

    @Test
    void closed_closesAtOnceIfNobodyWrites() throws Exception {
        stream.write(1);

        stream.close();

        assertThat(calls).containsExactly("write", "close");
        assertThatThrownBy(() -> stream.write(1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("closed");
        assertThat(later).isEmpty();
    }

    @Test
    void closedDuringACall_isClosedByTheWriterAfterIt() throws Exception {
        duringCall =
                () -> {
                    stream.close();
                    assertThat(calls).containsExactly("write");
                };

        stream.write(new byte[8], 0, 8);

        assertThat(calls).containsExactly("write", "close");
        later.remove().run();
        assertThat(calls).containsExactly("write", "close");
    }

    @Test
    void closedDuringACallThatFails_isClosedByTheWriterAfterIt() {
        duringCall =
                () -> {
                    stream.close();
                    throw new IOException("The store fails");
                };

        assertThatThrownBy(() -> stream.write(1)).hasMessage("The store fails");

        assertThat(calls).containsExactly("write", "close");
    }

    @Test
    void closedDuringACall_isClosedByAWriterThatIsInterrupted() throws Exception {
        duringCall =
                () -> {
                    stream.close();
                    Thread.currentThread().interrupt();
                };

        stream.write(1);

        assertThat(calls).containsExactly("write", "close");
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @Test
    void closedDuringACallThatDoesNotReturn_isClosedUnderIt() throws Exception {
        duringCall =
                () -> {
                    stream.close();
                    later.remove().run();
                    assertThat(calls).containsExactly("write", "close");
                };

        stream.write(1);

        assertThat(calls).containsExactly("write", "close", "close");
    }

    @Test
    void closedWhileTheFileIsFinished_notesTheFile() throws Exception {
        duringCall = stream::close;

        assertThat(stream.closeAndGetHandle()).isSameAs(file);

        assertThat(written).containsExactly(file);
    }

    /** A stream that fails if an interrupted thread closes it, as with some stores. */
    private final class RecordedStream extends CheckpointStateOutputStream {

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            called("finish");
            return file;
        }

        @Override
        public void write(int oneByte) throws IOException {
            called("write");
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            called("write");
        }

        private void called(String call) throws IOException {
            calls.add(call);
            duringCall.run();
        }

        @Override
        public long getPos() {
            return 0;
        }

        @Override
        public void flush() {}

        @Override
        public void sync() {}

        @Override
        public void close() {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            calls.add("close");
        }
    }
}
