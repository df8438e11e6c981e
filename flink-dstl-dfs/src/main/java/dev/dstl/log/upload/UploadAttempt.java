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

package dev.dstl.log.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.execution.Timers.Timer;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.store.SegmentName;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to write a segment to a file of its own. Blocks the upload thread it runs on.
 *
 * <p>A cancelled attempt keeps nothing but that thread: its slot, the segment and the upload are
 * released at once, the thread is interrupted, and if that has no effect the stream is closed. Its
 * outcome then does not count for the health of the store, and its file is deleted.
 */
final class UploadAttempt implements Runnable, Probing.Attempt {

    private static final Logger LOG = LoggerFactory.getLogger(UploadAttempt.class);

    /** Closing a stream may upload what it has buffered, so the interrupt gets some time first. */
    private static final long CLOSE_AFTER_MILLIS = 1_000;

    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final SegmentUploader uploader;
    private final SegmentName name;
    private final AttemptKind kind;

    /** Null after {@link #cancel}. */
    @GuardedBy("this")
    @Nullable
    private SegmentUpload upload;

    @Nullable private volatile AttemptSlots.Slot slot;

    /** Null before the attempt writes. */
    @Nullable private volatile AttemptContent content;

    /** The writing thread; interrupted only under the lock. */
    @GuardedBy("this")
    @Nullable
    private Thread writer;

    @GuardedBy("this")
    private boolean ended;

    /** Whether {@link Probing} knows that this probe has ended. */
    private final AtomicBoolean probeOver = new AtomicBoolean();

    /** How many attempts of the upload had begun with this one. */
    private volatile int ordinal;

    private volatile long bytes;
    private volatile long startNanos;

    /** How long the attempt may make no progress, if that ends it. */
    private volatile long patienceMillis;

    private volatile boolean timedOut;
    @Nullable private volatile Timer ping;
    @Nullable private volatile Timer timeout;
    @Nullable private volatile Timer hedge;
    @Nullable private volatile Timer lifetime;

    /**
     * Creates an attempt.
     *
     * @param bytes size of the segment; 0 if unknown
     */
    UploadAttempt(
            SegmentUploader uploader,
            SegmentUpload upload,
            SegmentName name,
            AttemptKind kind,
            long bytes) {
        this.uploader = uploader;
        this.upload = upload;
        this.name = name;
        this.kind = kind;
        this.bytes = bytes;
    }

    void submit() {
        AttemptSlots.Slot place;
        try {
            place =
                    kind == AttemptKind.PROBE
                            ? uploader.slots.submitBeyond(this, this::notStarted)
                            : uploader.slots.submit(this, this::notStarted);
        } catch (Throwable noMemory) {
            notStarted(noMemory);
            return;
        }
        slot = place;
        if (upload() == null && place.release()) {
            notMade();
        }
    }

    private void notStarted(Throwable cause) {
        SegmentUpload target;
        synchronized (this) {
            ended = true;
            target = upload;
            upload = null;
        }
        notMade();
        if (target != null) {
            target.notStarted(this, cause);
        }
    }

    private void notMade() {
        if (kind == AttemptKind.HEDGE) {
            uploader.hedging.budget().giveBack(bytes);
        } else {
            probeOver(false);
        }
    }

    /** Reports the end of a probe. No effect the second time, or if this is no probe. */
    private void probeOver(boolean succeeded) {
        if (kind == AttemptKind.PROBE && probeOver.compareAndSet(false, true)) {
            uploader.probing.ended(succeeded);
        }
    }

    @Nullable
    private synchronized SegmentUpload upload() {
        return upload;
    }

    AttemptKind kind() {
        return kind;
    }

    int ordinal() {
        return ordinal;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void run() {
        Path file = null;
        Throwable failure = null;
        try {
            if (!begin()) {
                notMade();
                return;
            }
            file = uploader.store.locate(name);
            uploader.store.write(file, content);
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            failure = t;
        }
        end(file, failure);
    }

    /** Returns false if the segment is no longer needed. */
    private boolean begin() {
        SegmentUpload target = upload();
        EncodedSegment segment = target == null ? null : target.encodedFor(this);
        if (segment == null) {
            return false;
        }
        synchronized (this) {
            if (upload == null) {
                return false;
            }
            writer = Thread.currentThread();
            bytes = segment.length();
            content = new AttemptContent(segment, uploader.timers::nanoTime);
            startNanos = uploader.timers.nanoTime();
            uploader.live.began(this, bytes, startNanos, timeoutNanos());
        }
        ordinal = target.began();
        account();
        arm();
        return true;
    }

    /**
     * On a store of varying speed, slow requests are overtaken as well, although their connections
     * are not dead.
     */
    private long timeoutNanos() {
        long millis = uploader.timeouts.timeoutMillis(bytes);
        return startNanos + (millis == 0 ? Long.MAX_VALUE / 2 : millis * NANOS_PER_MILLI);
    }

    private void account() {
        uploader.metrics.attemptStarted();
        if (kind == AttemptKind.NEEDED) {
            uploader.hedging.budget().earn(bytes);
            return;
        }
        uploader.metrics.extraAttemptStarted(kind == AttemptKind.HEDGE);
        if (kind == AttemptKind.PROBE) {
            uploader.hedging.budget().spend(bytes);
        }
    }

    private void arm() {
        long hedgeMillis = uploader.hedging.delayMillis(bytes);
        switch (kind) {
            case NEEDED:
                hedge = after(hedgeMillis, this::hedgeDue);
                ping = after(uploader.probing.pingDelayMillis(bytes), uploader.ping::send);
                break;
            case HEDGE:
                lifetime = after(Hedging.lifetimeMillis(hedgeMillis), this::withdraw);
                break;
            default:
                lifetime = after(uploader.probing.began(this), this::probeDue);
        }
        timeout = after(uploader.timeouts.timeoutMillis(bytes), this::timedOut);
        if (!uploader.policy.allowsSecondAttempts()) {
            patienceMillis = uploader.policy.hangMillis(uploader.live.bytes());
            lifetime = after(patienceMillis, this::replaceIfHanging);
        }
    }

    @Nullable
    private Timer after(long delayMillis, Runnable action) {
        return delayMillis == 0 ? null : uploader.timers.schedule(action, delayMillis);
    }

    private void cancelTimers() {
        cancel(ping);
        cancel(timeout);
        cancel(hedge);
        cancel(lifetime);
    }

    private static void cancel(@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    private void end(@Nullable Path file, @Nullable Throwable failure) {
        SegmentUpload target;
        EncodedSegment written;
        synchronized (this) {
            ended = true;
            writer = null;
            target = upload;
            written = content == null ? null : content.segment();
        }
        cancelTimers();
        // An interrupt says that the attempt is cancelled, or that the storage is closing; what
        // follows has to be done all the same.
        Thread.interrupted();
        if (target == null) {
            // If it was cancelled while it encoded, it does not count as abandoned.
            if (hasBegun()) {
                uploader.abandoned.ended(this, file);
            }
            return;
        }
        try {
            if (failure == null) {
                target.succeeded(this, file, written, uploader.timers.nanoTime() - startNanos);
            } else {
                uploader.live.ended(this);
                failed(target, file, failure);
            }
        } finally {
            probeOver(failure == null);
        }
    }

    /** Asks an exception of a file system's client what has happened, which may fail as well. */
    private void failed(SegmentUpload target, @Nullable Path file, Throwable failure) {
        try {
            target.failed(this, file, failure);
        } catch (Throwable foreign) {
            target.failedUnexplained(this, failure.getClass());
        }
    }

    /**
     * Cancels the attempt and releases its resources. No effect if it has ended or was cancelled.
     */
    void cancel() {
        boolean writing;
        synchronized (this) {
            if (ended || upload == null) {
                return;
            }
            upload = null;
            writing = writer != null;
            if (writing) {
                content.detach();
                uploader.abandoned.began();
                writer.interrupt();
            }
        }
        cancelTimers();
        uploader.live.ended(this);
        AttemptSlots.Slot place = slot;
        boolean neverBegins = place != null && place.release();
        if (neverBegins) {
            notMade();
        } else if (writing) {
            probeOver(false);
        }
        if (writing) {
            learnFromAge();
            closeLater();
        }
    }

    /** Never fails: what is cancelled is no longer needed, unlike what the caller does next. */
    private void closeLater() {
        try {
            uploader.timers.schedule(this::interruptDidNotHelp, CLOSE_AFTER_MILLIS);
        } catch (Throwable noMemory) {
            LOG.debug("{} is interrupted, and its stream not closed", name, noMemory);
        }
    }

    private void learnFromAge() {
        long ageNanos = uploader.timers.nanoTime() - startNanos;
        long slowMillis = uploader.hedging.delayMillis(bytes);
        if (slowMillis > 0 && ageNanos >= slowMillis * NANOS_PER_MILLI) {
            uploader.hedging.took(bytes, ageNanos);
        }
    }

    private void interruptDidNotHelp() {
        synchronized (this) {
            if (ended) {
                return;
            }
        }
        if (!uploader.abandoned.doesNotReact(this, this::closeStream)) {
            closeLater();
        }
    }

    /**
     * Closes the stream of the writing thread, without which some clients do not return. May block.
     */
    private void closeStream() throws IOException {
        AttemptContent detached = content;
        Closeable stream = detached == null ? null : detached.stream();
        if (stream != null) {
            stream.close();
        }
    }

    /** Moves this attempt to a slow slot, since its hedge needs a regular one. */
    private void hedgeDue() {
        uploader.live.becameSlow(this);
        SegmentUpload target = upload();
        if (target != null && target.hedge(this)) {
            giveUpPlace();
        }
    }

    private void timedOut() {
        if (upload() == null) {
            return;
        }
        timedOut = true;
        giveUpPlace();
        uploader.live.timedOut(this);
        if (kind == AttemptKind.NEEDED) {
            uploader.health.timedOut();
        }
        uploader.probing.consider();
    }

    private void giveUpPlace() {
        AttemptSlots.Slot place = slot;
        if (place != null) {
            place.becameSlow();
        }
    }

    /**
     * Cancels a hedge that is no faster than the attempt that it was to overtake. No effect without
     * another attempt.
     */
    void withdraw() {
        SegmentUpload target = upload();
        if (target != null) {
            target.withdraw(this);
        }
    }

    /**
     * Ends the lifetime of a probe. Without another attempt it continues, but the next probe does
     * not wait for it.
     */
    private void probeDue() {
        withdraw();
        probeOver(false);
    }

    /**
     * Replaces this attempt by a new one because it is not expected to succeed. Never fails: others
     * may have to be replaced as well, and this one has a successor once a checkpoint needs it.
     */
    void replace() {
        SegmentUpload target = upload();
        if (target == null) {
            return;
        }
        try {
            target.replace(this);
        } catch (Throwable noMemory) {
            LOG.debug("{} is not replaced", name, noMemory);
        }
    }

    /**
     * Replaces this attempt if the client has taken no bytes for so long that it hangs, and checks
     * again later otherwise, or if the attempt may not be replaced now.
     */
    private void replaceIfHanging() {
        AttemptContent written = content;
        if (written == null || upload() == null) {
            return;
        }
        // Those that ended meanwhile have shared the link as well.
        patienceMillis =
                Math.max(patienceMillis, uploader.policy.hangMillis(uploader.live.bytes()));
        long silentMillis =
                (uploader.timers.nanoTime() - written.progressNanos()) / NANOS_PER_MILLI;
        long leftMillis = patienceMillis - silentMillis;
        if (leftMillis <= 0) {
            replace();
            leftMillis = patienceMillis;
        }
        try {
            checkLater(leftMillis);
        } catch (Throwable noMemory) {
            LOG.debug("{} is replaced, since it cannot be watched", name, noMemory);
            replace();
        }
    }

    private synchronized void checkLater(long millis) {
        if (!ended && upload != null) {
            lifetime = after(millis, this::replaceIfHanging);
        }
    }

    @Override
    public boolean probe() {
        SegmentUpload target = upload();
        return target != null && target.probe(this);
    }

    /** Returns whether the attempt has started to write. */
    boolean hasBegun() {
        return content != null;
    }

    boolean isTimedOut() {
        return timedOut;
    }

    @Override
    public String toString() {
        return name.toString();
    }
}
