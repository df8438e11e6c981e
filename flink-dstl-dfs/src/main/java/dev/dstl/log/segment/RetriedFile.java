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

import dev.dstl.log.api.StoreException;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file that is read at any offset. The session decides about retries; a missing or damaged {@link
 * SegmentCopy} is replaced by its original. Opened at the first read. Not thread-safe; owns the
 * stream and closes it.
 */
final class RetriedFile implements Closeable {

    /** Begins the messages about segments. */
    static final String SEGMENT = "Segment";

    private static final Logger LOG = LoggerFactory.getLogger(RetriedFile.class);

    private final String kind;
    private final ReadSession session;

    /** Number of bytes that the file has at least; not positive if unknown. */
    private final long minSize;

    /**
     * The file, or its copy until that fails. Null if the stream was given and cannot be reopened.
     */
    @Nullable private StreamStateHandle file;

    /** Where the stream reads from: the file or its copy. */
    @Nullable private StreamStateHandle source;

    private String name;

    /** Null before the first read, and after a failure. */
    @Nullable private SegmentStream stream;

    /** Runs the requests; null if the reading thread runs them itself. */
    @Nullable private final RequestThread requests;

    /** Replaced when a request is abandoned, since its thread may still write into it. */
    private byte[] buffer = new byte[0];

    private RetriedFile(
            String kind,
            StreamStateHandle file,
            long minSize,
            ReadSession session,
            @Nullable RequestThread requests) {
        this.kind = kind;
        this.file = file;
        this.source = sourceOf(file);
        this.name = nameOf(source);
        this.minSize = minSize;
        this.session = session;
        this.requests = requests;
    }

    /**
     * Returns a segment that is already open.
     *
     * @param name of the segment in exceptions
     * @param stream at its start; owned by the returned object
     */
    static RetriedFile ofSegment(String name, FSDataInputStream stream, ReadSession session) {
        RetriedFile opened = new RetriedFile(SEGMENT, null, 0, session, null);
        opened.name = name;
        opened.stream = new SegmentStream(stream, session);
        return opened;
    }

    /**
     * Returns a segment.
     *
     * @param inMemory whether no request can hang
     */
    static RetriedFile ofSegment(StreamStateHandle segment, ReadSession session, boolean inMemory) {
        return new RetriedFile(
                SEGMENT,
                segment,
                segment.getStateSize(),
                session,
                session.isPatienceLimited() && !inMemory ? new RequestThread() : null);
    }

    /** Returns a file of a base. Its bytes have no checksums here, so its size is verified. */
    static RetriedFile ofBase(FileStateHandle file, ReadSession session) {
        return new RetriedFile("File", file, file.getStateSize(), session, new RequestThread());
    }

    private static StreamStateHandle sourceOf(StreamStateHandle file) {
        return file instanceof SegmentCopy ? ((SegmentCopy) file).copy() : file;
    }

    /** Returns the name of a file in exceptions. */
    static String nameOf(@Nullable StreamStateHandle handle) {
        Path path = pathOf(handle);
        return path == null ? String.valueOf(handle) : path.toString();
    }

    @Nullable
    static Path pathOf(@Nullable StreamStateHandle handle) {
        return handle instanceof FileStateHandle ? ((FileStateHandle) handle).getFilePath() : null;
    }

    /** Returns the name of the file in exceptions. */
    String name() {
        return name;
    }

    /**
     * Reads {@code [offset, offset + count)} to the start of {@code target}.
     *
     * @return number of bytes read, less than {@code count} only at the end; of a segment this may
     *     be earlier than it should be, if the store says so as well
     * @throws IOException if the file does not exist, the store does not answer, or the session was
     *     abandoned
     */
    int read(long offset, byte[] target, int count) throws IOException {
        int failures = 0;
        boolean mayRetryEarly = true;
        while (true) {
            try {
                return tryRead(offset, target, count, failures, mayRetryEarly);
            } catch (SlowRequestException slow) {
                mayRetryEarly = false;
                session.retriedEarly();
            } catch (IOException | RuntimeException e) {
                // File systems also throw what their clients throw.
                if (Thread.currentThread().isInterrupted() || session.isGivenUp()) {
                    throw e;
                }
                if (fallBack(e)) {
                    failures = 0;
                } else if (isTruncated(e, ++failures)) {
                    return ((ShortFileException) e).read;
                } else {
                    prepareRetry(failures, e);
                }
            }
        }
    }

    private int tryRead(long offset, byte[] target, int count, int failures, boolean mayRetryEarly)
            throws IOException {
        session.begin(file);
        try {
            if (stream == null) {
                stream = new SegmentStream(source, session);
            }
            int read =
                    requests == null
                            ? stream.read(offset, target, count)
                            : readElsewhere(offset, target, count, failures, mayRetryEarly);
            if (read < count && offset + read < minSize) {
                throw new ShortFileException(offset, read, minSize);
            }
            return read;
        } finally {
            session.end();
        }
    }

    private int readElsewhere(
            long offset, byte[] target, int count, int failures, boolean mayRetryEarly)
            throws IOException {
        if (buffer.length < count) {
            buffer = new byte[count];
        }
        SegmentStream reading = stream;
        byte[] filled = buffer;
        long patienceMillis = session.patienceMillis(failures);
        long earlyRetryMillis = mayRetryEarly ? session.earlyRetryMillis() : Long.MAX_VALUE;
        long startNanos = System.nanoTime();
        try {
            int read =
                    requests.call(
                            () -> reading.read(offset, filled, count),
                            Math.min(patienceMillis, earlyRetryMillis),
                            reading::progress);
            session.answered(System.nanoTime() - startNanos);
            System.arraycopy(filled, 0, target, 0, read);
            return read;
        } catch (ReadTimeoutException e) {
            leaveBehind();
            if (earlyRetryMillis < patienceMillis) {
                throw new SlowRequestException();
            }
            String what =
                    String.format(
                            "no byte at offset %d for %d s in try %d",
                            offset, TimeUnit.MILLISECONDS.toSeconds(patienceMillis), failures + 1);
            LOG.warn("Reading {} gave {}; the read is abandoned", name, what);
            throw new ReadTimeoutException(what);
        } catch (InterruptedIOException e) {
            leaveBehind();
            throw e;
        }
    }

    /** A request is slow; the next one is likely not to be. */
    private static final class SlowRequestException extends IOException {
        private static final long serialVersionUID = 1;
    }

    /** A file ends early. Clients also report a lost connection as the end of the file. */
    private static final class ShortFileException extends EOFException {
        private static final long serialVersionUID = 1;

        private final int read;

        private ShortFileException(long offset, int read, long minSize) {
            super(String.format("the file ends after %d of %d bytes", offset + read, minSize));
            this.read = read;
        }
    }

    /** Replaces stream and buffer, which the thread of an abandoned request may still hold. */
    private void leaveBehind() {
        SegmentStream left = stream;
        stream = null;
        buffer = new byte[0];
        left.abandon();
    }

    /** Switches from a failed copy to the original; returns whether there was one to switch to. */
    boolean fallBack(Exception cause) {
        if (!(file instanceof SegmentCopy)) {
            return false;
        }
        SegmentCopy copy = (SegmentCopy) file;
        copy.failed();
        disconnect();
        file = copy.original();
        source = sourceOf(file);
        if (!(cause instanceof RecentSegment.NotKeptException)) {
            LOG.info(
                    "The local copy {} cannot be read, {} is read instead: {}",
                    name,
                    nameOf(source),
                    cause.toString());
        }
        name = nameOf(source);
        return true;
    }

    /**
     * Switches from a damaged copy to the original. If there is none, the file counts as
     * unreadable.
     *
     * @return whether there was one to switch to
     */
    boolean fallBackFromDamage(Exception damage) {
        boolean fellBack = fallBack(damage);
        if (!fellBack) {
            countAsUnreadable();
        }
        return fellBack;
    }

    /** Records that reading the file again would not help. */
    void countAsUnreadable() {
        if (file != null) {
            session.failed(file);
        }
    }

    /**
     * Returns whether a segment is damaged because its end is missing, and no connection was lost.
     * The reader of the segment knows best what that means.
     */
    private boolean isTruncated(Exception cause, int failures) throws IOException {
        if (!(cause instanceof ShortFileException)
                || !SEGMENT.equals(kind)
                || session.retries(failures)) {
            return false;
        }
        Path path = pathOf(source);
        return path == null || ask(() -> FailedRead.isShorter(path, minSize));
    }

    private void prepareRetry(int failures, Exception cause) throws IOException {
        boolean hung = cause instanceof ReadTimeoutException;
        boolean gone = FailedRead.isNotFound(cause) || (!hung && isAbsent());
        if (file == null || gone || !session.retries(failures)) {
            countAsUnreadable();
            throw FailedRead.explained(kind, name, gone, cause);
        }
        disconnect();
        session.pause(failures);
    }

    private void disconnect() {
        try {
            close();
        } catch (IOException | RuntimeException e) {
            LOG.debug("Could not close {}, of which a read failed", name, e);
        }
    }

    private boolean isAbsent() throws IOException {
        Path path = pathOf(source);
        return path != null && ask(() -> FailedRead.isAbsent(path));
    }

    /** Asks the file system a question. No answer is a no. */
    private boolean ask(BooleanSupplier question) throws IOException {
        session.begin(file);
        try {
            return requests == null
                    ? question.getAsBoolean()
                    : requests.call(question::getAsBoolean, session.patienceMillis(0), () -> 0);
        } catch (ReadTimeoutException noAnswer) {
            return false;
        } finally {
            session.end();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            if (stream != null) {
                closeStream();
            }
        } catch (IOException | RuntimeException e) {
            throw StoreException.of(
                    String.format("%s %s: %s", kind, name, StoreException.describe(e)), e);
        } finally {
            if (requests != null) {
                requests.end();
            }
        }
    }

    private void closeStream() throws IOException {
        SegmentStream closing = stream;
        stream = null;
        if (requests == null) {
            session.beginClosing(file);
            try {
                closing.close();
            } finally {
                session.end();
            }
            return;
        }
        try {
            requests.call(
                    () -> {
                        closing.close();
                        return null;
                    },
                    session.patienceMillis(0),
                    () -> 0);
        } catch (ReadTimeoutException | InterruptedIOException nobodyWaits) {
            closing.abandon();
        } catch (IOException maybeNotStarted) {
            closing.abandon();
            throw maybeNotStarted;
        }
    }
}
