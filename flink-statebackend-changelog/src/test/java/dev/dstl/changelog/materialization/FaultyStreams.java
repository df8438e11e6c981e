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

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;

/** Files in memory whose creation fails, and of which one can hang. */
final class FaultyStreams extends MemCheckpointStreamFactory {

    /** Whether files cannot be created, because of a fatal error. */
    volatile boolean fatal;

    /** Whether the file hangs when it is closed, and not when it is created. */
    volatile boolean progressFirst;

    /** Whether the file hangs between two calls to the store, and then when it is closed. */
    volatile boolean closedBetweenCalls;

    /** Whether a hanging call to the store ends when its thread is interrupted. */
    volatile boolean endsWhenInterrupted;

    /** Counted down by the next file, which then hangs until {@link #answer}. */
    @Nullable private volatile CountDownLatch hanging;

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);

    FaultyStreams() {
        super(1 << 20);
    }

    /** Lets the next file hang. */
    void hangOnce() {
        hanging = new CountDownLatch(1);
    }

    /** Waits until a file hangs. */
    void awaitHanging() throws InterruptedException {
        hanging.await();
    }

    /** Waits until a file that hangs between two calls is being closed. */
    void awaitClosing() throws InterruptedException {
        closing.await();
    }

    /** Ends all calls that hang. */
    void answer() {
        answered.countDown();
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        if (fatal) {
            throw new ThreadDeath();
        }
        CheckpointStateOutputStream out = super.createCheckpointStateOutputStream(scope);
        if (closedBetweenCalls) {
            return new PausedStream(out);
        }
        if (progressFirst) {
            return new HangingStream(out);
        }
        hang();
        return out;
    }

    private void hang() {
        if (hanging == null || hanging.getCount() == 0) {
            return;
        }
        hanging.countDown();
        awaitAnswer();
    }

    private void awaitAnswer() {
        while (true) {
            try {
                answered.await();
                return;
            } catch (InterruptedException interrupt) {
                if (endsWhenInterrupted) {
                    return;
                }
            }
        }
    }

    /** Pauses its writer between two calls, and hangs when it is closed without a result. */
    private final class PausedStream extends HangingStream {

        private PausedStream(CheckpointStateOutputStream out) {
            super(out);
        }

        @Override
        public long getPos() throws IOException {
            hang();
            return super.getPos();
        }

        @Override
        public void close() throws IOException {
            closing.countDown();
            awaitAnswer();
            super.close();
        }
    }

    /** Hangs when it is closed. */
    private class HangingStream extends CheckpointStateOutputStream {

        private final CheckpointStateOutputStream out;

        private HangingStream(CheckpointStateOutputStream out) {
            this.out = out;
        }

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            hang();
            return out.closeAndGetHandle();
        }

        @Override
        public void write(int oneByte) throws IOException {
            out.write(oneByte);
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            out.sync();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
