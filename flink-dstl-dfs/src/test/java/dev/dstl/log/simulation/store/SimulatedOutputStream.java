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

package dev.dstl.log.simulation.store;

import dev.dstl.log.simulation.schedule.Fiber;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;

/**
 * One write. Bytes are collected, and sent when the stream is closed, as object stores do; from
 * then on they are on their way, whatever becomes of the process that sent them.
 */
final class SimulatedOutputStream extends FSDataOutputStream {

    private final SimulatedStore store;
    private final Path path;
    private final WriteFate fate;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int breaksAt;
    private boolean broken;
    private boolean closed;
    private boolean arrived;

    private SimulatedOutputStream(SimulatedStore store, Path path, WriteFate fate) {
        this.store = store;
        this.path = path;
        this.fate = fate;
        this.breaksAt =
                fate == WriteFate.FAILS_IN_THE_MIDDLE ? store.dice().below(300) : Integer.MAX_VALUE;
    }

    static SimulatedOutputStream open(SimulatedStore store, Path path, String client)
            throws IOException {
        store.create(path, client);
        WriteFate fate = store.weather().nextFate();
        store.note(client, fate + " for " + path.getName());
        if (fate == WriteFate.FAILS_AT_CREATE) {
            try {
                answerIn(store, store.weather().latencyMillis());
            } finally {
                store.written(path);
            }
            throw store.failure("No answer");
        }
        return new SimulatedOutputStream(store, path, fate);
    }

    private static void answerIn(SimulatedStore store, long millis) throws IOException {
        if (millis > 0) {
            Fiber.Pause pause = new Fiber.Pause();
            store.later(millis, "answers", () -> pause.end("got an answer"));
            await(pause);
        }
    }

    private static void await(Fiber.Pause pause) throws IOException {
        try {
            Fiber.current().pause(pause);
        } catch (InterruptedException e) {
            InterruptedIOException failure = new InterruptedIOException("Interrupted");
            failure.initCause(e);
            throw failure;
        }
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
        bytes.write(source, offset, length);
        if (bytes.size() > breaksAt) {
            broken = true;
            throw store.failure("Connection reset");
        }
    }

    @Override
    public long getPos() {
        return bytes.size();
    }

    @Override
    public void flush() {}

    @Override
    public void sync() {}

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (!broken) {
                send();
            }
        } finally {
            store.written(path);
        }
        if (broken) {
            return;
        }
        if (!fate.succeeds()) {
            throw store.failure("Connection reset while closing");
        }
    }

    private void send() throws IOException {
        long answerMillis =
                fate.hangs() ? store.weather().hangMillis() : store.weather().latencyMillis();
        boolean stored = true;
        byte[] sent = bytes.toByteArray();
        long arrivalMillis = answerMillis == 0 ? 0 : store.dice().between(0, answerMillis + 1);
        switch (fate) {
            case STORED:
            case HANGS_THEN_STORED:
            case FAILS_BUT_IS_STORED:
                break;
            case HANGS_FOREVER:
                stored = store.dice().percent(30);
                break;
            case FAILS_AND_IS_STORED_LATER:
                arrivalMillis = answerMillis + store.dice().between(1, 30_000);
                break;
            case FAILS_ON_CLOSE_AND_LEAVES_PART:
                sent = Arrays.copyOf(sent, store.dice().below(sent.length));
                break;
            default:
                stored = false;
        }
        byte[] arriving = sent;
        if (stored) {
            store.later(arrivalMillis, "gets bytes", () -> arrive(arriving));
        }
        if (fate == WriteFate.HANGS_FOREVER) {
            await(new Fiber.Pause());
        }
        answerIn(store, answerMillis);
        if (stored && fate != WriteFate.FAILS_AND_IS_STORED_LATER) {
            arrive(arriving);
        }
    }

    private void arrive(byte[] arriving) {
        if (!arrived) {
            arrived = true;
            store.put(path, arriving);
        }
    }
}
