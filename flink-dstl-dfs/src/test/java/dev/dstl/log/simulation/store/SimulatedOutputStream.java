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
import dev.dstl.log.simulation.world.Condition;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;

/**
 * One write. Bytes are collected, and sent when the stream is closed, as object stores do. Once
 * they have been sent they are on their way, whatever becomes of the process that sent them.
 * Whoever closes the stream while another thread does ends that one's wait.
 */
final class SimulatedOutputStream extends FSDataOutputStream {

    /** Changelogs delete a file once more after so long. */
    private static final int LATE_MILLIS = 30_000;

    private final SimulatedStore store;
    private final String client;
    private final Path path;
    private final WriteFate fate;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final int breaksAt;
    private boolean broken;
    private boolean closed;
    private boolean aborted;
    private boolean arrived;
    private boolean returned;
    private boolean stalled;
    private long sentBytes;
    @Nullable private Fiber.Pause waiting;

    private SimulatedOutputStream(SimulatedStore store, String client, Path path, WriteFate fate) {
        this.store = store;
        this.client = client;
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
        if (fate == WriteFate.FAILS_AT_CREATE || fate == WriteFate.REFUSED) {
            try {
                Waiting.forMillis(store, store.weather().latencyMillis());
            } finally {
                store.written(path, client, 0, false);
            }
            throw store.failure(
                    fate == WriteFate.REFUSED ? "503 SlowDown: fewer requests" : "No answer");
        }
        if (fate == WriteFate.HANGS_FOREVER_AND_IS_DEAF) {
            store.uninterruptible(client);
        }
        return new SimulatedOutputStream(store, client, path, fate);
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
            abort();
            return;
        }
        closed = true;
        try {
            if (!broken) {
                send();
            }
        } finally {
            stalled |= store.weather().isStalled();
            store.written(path, client, sentBytes, fate == WriteFate.STORED && !stalled);
        }
        if (broken || returned) {
            return;
        }
        if (!fate.succeeds()) {
            throw store.failure("Connection reset while closing");
        }
        store.answered(path, client);
    }

    /** Aborts the transfer, as another thread has closed the stream. */
    private void abort() {
        if (waiting != null && fate != WriteFate.HANGS_FOREVER_AND_IS_DEAF) {
            aborted = true;
            waiting.end("is closed by another thread");
        }
    }

    private void send() throws IOException {
        stalled = store.weather().isStalled();
        transfer();
        if (returned) {
            return;
        }
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
            case HANGS_FOREVER_AND_IS_DEAF:
                stored = store.dice().percent(30);
                break;
            case FAILS_AND_IS_STORED_LATER:
                // Counted from the request, as its sender may give up before the answer.
                arrivalMillis = Math.max(answerMillis, store.dice().between(1, LATE_MILLIS));
                if (arrivalMillis < LATE_MILLIS) {
                    store.willStoreSoon(path);
                }
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
        if (fate.isEternal()) {
            await(
                    fate == WriteFate.HANGS_FOREVER
                            ? new Fiber.Pause()
                            : Fiber.Pause.uninterruptible());
        } else if (answerMillis > 0) {
            Fiber.Pause answer = new Fiber.Pause();
            store.later(answerMillis, "answers", () -> answer.end("got an answer"));
            await(answer);
        }
        if (returned) {
            if (arrivalMillis < LATE_MILLIS) {
                store.willStoreSoon(path);
            }
        } else if (stored && fate != WriteFate.FAILS_AND_IS_STORED_LATER) {
            arrive(arriving);
        }
    }

    /** Waits for the shared link, if there is one; a dead connection does not use it. */
    private void transfer() throws IOException {
        SharedLink link = store.link();
        if (link == null || fate.isEternal()) {
            sentBytes = bytes.size();
            return;
        }
        store.conditions().occurred(Condition.SHARED_LINK);
        Fiber.Pause sent = new Fiber.Pause();
        SharedLink.Transfer transfer = link.start(bytes.size(), () -> sent.end("has sent"));
        try {
            await(sent);
        } finally {
            transfer.end();
            sentBytes = transfer.sentBytes();
        }
    }

    private void await(Fiber.Pause pause) throws IOException {
        waiting = pause;
        try {
            Waiting.on(pause);
        } catch (InterruptedIOException interrupt) {
            if (!store.conditions().has(Condition.INTERRUPTED_CLOSES_RETURN)) {
                throw interrupt;
            }
            // As S3A does, whose threads go on sending.
            store.conditions().occurred(Condition.INTERRUPTED_CLOSES_RETURN);
            returned = true;
            Thread.currentThread().interrupt();
        } finally {
            waiting = null;
        }
        if (aborted) {
            throw new IOException("Stream closed");
        }
    }

    private void arrive(byte[] arriving) {
        if (!arrived) {
            arrived = true;
            store.put(path, arriving);
        }
    }
}
