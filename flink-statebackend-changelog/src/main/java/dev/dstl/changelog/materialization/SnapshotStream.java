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

import static org.apache.flink.util.Preconditions.checkState;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;

/**
 * Writes one file of a snapshot. Closing it never overtakes a running call of the writer: Flink's
 * stream deletes its file when it is closed, but a call that is creating the file at that moment
 * still creates it, and the file leaks. So the writing thread closes the stream when its call
 * returns. Only under a call that does not return the stream is closed after a delay; a file that
 * was about to be created may then be left behind.
 *
 * <p>One thread writes; any thread closes.
 */
final class SnapshotStream extends CheckpointStateOutputStream {

    private final CheckpointStateOutputStream out;
    private final Written written;
    private final Executor afterAWhile;
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

    /** Records written files. */
    interface Written {

        /**
         * Adds a file.
         *
         * @throws IOException if the file is not needed any more and was deleted
         */
        void add(StreamStateHandle handle) throws IOException;

        /** Reports that a call to the store has returned. */
        default void progressed() {}
    }

    /**
     * State of the stream.
     *
     * <pre>
     *            a call begins           close
     *    IDLE ------------------> BUSY --------> CLOSING
     *      |  <------------------                   |
     *      |     the call returns                   | the call returns
     *      |                                        v
     *      '-------------- close --------------> CLOSED
     * </pre>
     */
    private enum State {
        IDLE,
        BUSY,
        CLOSING,
        CLOSED
    }

    /**
     * Creates a stream.
     *
     * @param out owned by this stream
     * @param afterAWhile runs actions later, on threads that may block; stays the caller's
     */
    SnapshotStream(CheckpointStateOutputStream out, Written written, Executor afterAWhile) {
        this.out = out;
        this.written = written;
        this.afterAWhile = afterAWhile;
    }

    @Override
    @Nullable
    public StreamStateHandle closeAndGetHandle() throws IOException {
        begin();
        try {
            StreamStateHandle handle = out.closeAndGetHandle();
            if (handle != null) {
                written.add(handle);
            }
            return handle;
        } finally {
            end();
        }
    }

    @Override
    public void write(int oneByte) throws IOException {
        begin();
        try {
            out.write(oneByte);
        } finally {
            end();
        }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        begin();
        try {
            out.write(bytes, offset, length);
        } finally {
            end();
        }
    }

    @Override
    public long getPos() throws IOException {
        return out.getPos();
    }

    @Override
    public void flush() throws IOException {
        begin();
        try {
            out.flush();
        } finally {
            end();
        }
    }

    @Override
    public void sync() throws IOException {
        begin();
        try {
            out.sync();
        } finally {
            end();
        }
    }

    private void begin() throws IOException {
        if (!state.compareAndSet(State.IDLE, State.BUSY)) {
            checkState(state.get() != State.BUSY, "Two threads write to one stream");
            throw new IOException("The stream is closed, since the snapshot was cancelled");
        }
    }

    private void end() throws IOException {
        written.progressed();
        if (!state.compareAndSet(State.BUSY, State.IDLE)) {
            state.set(State.CLOSED);
            closeUninterrupted();
        }
    }

    /**
     * Closes with the interrupt flag cleared, since the thread of a cancelled task is interrupted
     * and would not delete the file.
     */
    private void closeUninterrupted() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            out.close();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Closes the stream without waiting for the writer. */
    @Override
    public void close() throws IOException {
        for (State now = state.get(); now == State.IDLE || now == State.BUSY; now = state.get()) {
            State next = now == State.IDLE ? State.CLOSED : State.CLOSING;
            if (state.compareAndSet(now, next)) {
                if (next == State.CLOSED) {
                    closeUninterrupted();
                } else {
                    afterAWhile.execute(this::closeUnderTheWriter);
                }
                return;
            }
        }
    }

    private void closeUnderTheWriter() {
        if (state.get() == State.CLOSING) {
            IOUtils.closeQuietly(out);
        }
    }
}
