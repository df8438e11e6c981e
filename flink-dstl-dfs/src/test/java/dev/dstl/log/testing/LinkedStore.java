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

package dev.dstl.log.testing;

import dev.dstl.log.execution.Timers;
import dev.dstl.log.store.SegmentContent;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/**
 * An object store behind a {@link SharedLink}: sends everything when the file is closed, unless it
 * {@linkplain #sendWhileWriting streams}. Only for {@link TurnThreads}. Keeps no bytes, only how
 * many there are.
 */
public final class LinkedStore implements SegmentStore {

    /** The outcome of one write. */
    public enum Fate {
        SENT,
        /** A dead connection: nothing is sent or answered. Ends on an interrupt. */
        HANGS,
        /** The same, with a client that ignores interrupts. */
        HANGS_DEAF,
        /** The same, with a client that returns when its stream is closed. */
        HANGS_DEAF_UNTIL_CLOSED,
        /** The client ignores interrupts, and the write succeeds late. */
        LATE_DEAF,
        /** An interrupted client returns as after a success; the file is stored late. */
        LATE_AFTER_RETURN,
        /** Nothing is sent until the connection is reset late. Ends on an interrupt. */
        LATE_FAILS,
        FAILS,
        /** The store asks for fewer requests. */
        THROTTLED
    }

    private static final int PING_BYTES = 500;

    private final SharedLink link;
    private final Map<String, Long> files = new LinkedHashMap<>();
    private Function<SegmentName, Fate> fates = name -> Fate.SENT;
    @Nullable private Timers timers;
    private long lateMillis;
    private long storedBytes;
    private int requests;
    private int hanging;
    private int pings;
    private boolean pingsHang;
    private boolean streaming;
    private int hangingCloses;

    /** Creates an empty store without faults. */
    public LinkedStore(SharedLink link) {
        this.link = link;
    }

    /** Sets the outcome of further writes. */
    public void decide(Function<SegmentName, Fate> rule) {
        fates = rule;
    }

    /** Sets the duration of late writes. */
    public void completeLateAfter(Timers clock, long millis) {
        timers = clock;
        lateMillis = millis;
    }

    /** Sizes by paths. */
    public Map<String, Long> files() {
        return files;
    }

    /**
     * Sends the bytes of further writes as they are written, and only the end when it is closed.
     */
    public void sendWhileWriting() {
        streaming = true;
    }

    /** Makes so many further closes of a stream hang, without an effect on its write. */
    public void hangCloses(int count) {
        hangingCloses = count;
    }

    /** Number of writes that began. */
    public int requests() {
        return requests;
    }

    /** Size of all files ever completed. */
    public long storedBytes() {
        return storedBytes;
    }

    /** Number of hanging writes. */
    public int hangingCount() {
        return hanging;
    }

    @Override
    public Path locate(SegmentName name) {
        return name.below(new Path("linked://store/base"));
    }

    @Override
    public void write(Path file, SegmentContent content) throws IOException {
        requests++;
        Fate fate = fates.apply(SegmentName.of(file).orElseThrow(IllegalStateException::new));
        if (fate == Fate.FAILS) {
            throw new IOException("Connection refused");
        }
        if (fate == Fate.THROTTLED) {
            throw new IOException("Status Code: 503; Error Code: SlowDown");
        }
        Counter counter = streaming ? new StreamingCounter() : new Counter();
        TurnThreads.Pause pause =
                new TurnThreads.Pause(
                        fate == Fate.HANGS_DEAF
                                || fate == Fate.HANGS_DEAF_UNTIL_CLOSED
                                || fate == Fate.LATE_DEAF);
        if (fate == Fate.HANGS_DEAF_UNTIL_CLOSED) {
            content.opened(() -> close(pause));
        }
        content.writeTo(counter);
        if (fate == Fate.LATE_DEAF || fate == Fate.LATE_FAILS) {
            timers.schedule(pause::end, lateMillis);
        }
        try {
            if (fate == Fate.SENT) {
                send(streaming ? 0 : counter.bytes, pause);
            } else {
                hang(pause);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (fate == Fate.LATE_AFTER_RETURN) {
                timers.schedule(() -> store(file, counter.bytes), lateMillis);
                return;
            }
            throw new InterruptedIOException("Interrupted while sending");
        }
        if (fate == Fate.LATE_FAILS) {
            throw new IOException("Connection reset");
        }
        if (fate == Fate.HANGS_DEAF_UNTIL_CLOSED) {
            throw new IOException("Stream closed");
        }
        store(file, counter.bytes);
    }

    private void store(Path file, long bytes) {
        files.put(file.getPath(), bytes);
        storedBytes += bytes;
    }

    private void send(long bytes, TurnThreads.Pause pause) throws InterruptedException {
        SharedLink.Transfer transfer = link.send(bytes, pause::end);
        try {
            pause.await();
        } catch (InterruptedException e) {
            transfer.cancel();
            throw e;
        }
    }

    private void close(TurnThreads.Pause write) {
        if (hangingCloses == 0) {
            write.end();
            return;
        }
        hangingCloses--;
        try {
            new TurnThreads.Pause(true).await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void hang(TurnThreads.Pause pause) throws InterruptedException {
        hanging++;
        try {
            pause.await();
        } finally {
            hanging--;
        }
    }

    @Override
    public void ping() throws IOException {
        pings++;
        TurnThreads.Pause pause = new TurnThreads.Pause(false);
        try {
            if (pingsHang) {
                hang(pause);
            } else {
                send(PING_BYTES, pause);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for an answer");
        }
    }

    /** Leaves further pings unanswered, independently of writes. */
    public void leavePingsHanging() {
        pingsHang = true;
    }

    /** Number of pings that began. */
    public int pings() {
        return pings;
    }

    @Override
    public void delete(Path file) {
        files.remove(file.getPath());
    }

    private static class Counter extends OutputStream {
        private long bytes;

        @Override
        public void write(int b) throws IOException {
            bytes++;
        }

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            bytes += length;
        }
    }

    /** Returns from a write when its bytes are sent. */
    private final class StreamingCounter extends Counter {

        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
            super.write(source, offset, length);
            try {
                send(length, new TurnThreads.Pause(false));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("Interrupted while sending");
            }
        }
    }
}
