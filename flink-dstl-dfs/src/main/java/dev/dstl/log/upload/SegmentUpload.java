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
import dev.dstl.log.api.StoreException;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.execution.Timers.Timer;
import dev.dstl.log.segment.EncodedSegment;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uploads one segment, with as many attempts as needed. Each attempt writes a file of its own. A
 * slow or timed-out attempt may get a second, concurrent attempt; the first to succeed wins, the
 * others are cancelled and their files deleted. An attempt that others overtake is replaced. Only
 * an attempt that has ended counts as failed, and the upload is suspended only when no attempt is
 * live.
 *
 * <p>Thread-safe; no method blocks. The work is done on upload threads.
 */
public final class SegmentUpload {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentUpload.class);

    private final SegmentUploader uploader;
    private final long sequence;
    private final SegmentSource source;

    @GuardedBy("this")
    private UploadState state = UploadState.IDLE;

    @GuardedBy("this")
    private final List<UploadAttempt> live = new ArrayList<>();

    /** Including those that never began. */
    @GuardedBy("this")
    private int attempts;

    @GuardedBy("this")
    private int begun;

    /** Number of failed attempts since the upload was started or resumed. */
    @GuardedBy("this")
    private int failures;

    @GuardedBy("this")
    @Nullable
    private Timer retry;

    @GuardedBy("this")
    private boolean encoding;

    @GuardedBy("this")
    @Nullable
    private EncodedSegment segment;

    SegmentUpload(SegmentUploader uploader, long sequence, SegmentSource source) {
        this.uploader = uploader;
        this.sequence = sequence;
        this.source = source;
    }

    /**
     * Starts the upload, or resumes it if it is suspended. Also starts an attempt if there is none
     * because it could not be created or scheduled. No effect otherwise.
     */
    public void ensureRunning() {
        synchronized (this) {
            if (state == UploadState.IDLE || state == UploadState.SUSPENDED) {
                if (state == UploadState.IDLE) {
                    uploader.health.uploadBegan();
                }
                state = state.to(UploadState.RUNNING);
                failures = 0;
            } else if (retry != null) {
                return;
            }
        }
        startNeeded();
    }

    /** Returns whether nothing is uploaded before {@link #ensureRunning()}. */
    public synchronized boolean isSuspended() {
        return state == UploadState.SUSPENDED;
    }

    /**
     * Ends the upload because the segment is no longer needed. Running attempts are cancelled and
     * their files deleted.
     */
    public void abandon() {
        boolean discard;
        synchronized (this) {
            if (state.isSettled()) {
                return;
            }
            settle(UploadState.ABANDONED);
            discard = segment == null && !encoding;
            segment = null;
        }
        try {
            cancelLive();
        } finally {
            if (discard) {
                source.discard();
            }
        }
        uploader.probing.consider();
    }

    /** Ends the upload. Allocates nothing, so that it cannot end by half. */
    @GuardedBy("this")
    private void settle(UploadState settled) {
        if (state != UploadState.IDLE) {
            uploader.health.uploadEnded();
        }
        state = state.to(settled);
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
    }

    /** Cancels the attempts of an upload that is settled. */
    private void cancelLive() {
        for (UploadAttempt next = takeLive(); next != null; next = takeLive()) {
            next.cancel();
        }
    }

    @Nullable
    private synchronized UploadAttempt takeLive() {
        return live.isEmpty() ? null : live.remove(0);
    }

    private void retry() {
        synchronized (this) {
            retry = null;
            if (uploader.policy.givesUpAfter(failures)) {
                failures = 0;
            }
        }
        startNeeded();
    }

    private void startNeeded() {
        UploadAttempt attempt;
        synchronized (this) {
            if (state != UploadState.RUNNING || !live.isEmpty()) {
                return;
            }
            attempt = newAttempt(AttemptKind.NEEDED);
        }
        attempt.submit();
    }

    @GuardedBy("this")
    private UploadAttempt newAttempt(AttemptKind kind) {
        attempts++;
        UploadAttempt attempt =
                new UploadAttempt(
                        uploader,
                        this,
                        uploader.name(sequence, attempts),
                        kind,
                        segment == null ? 0 : segment.length());
        live.add(attempt);
        return attempt;
    }

    /**
     * Starts a hedge for an attempt that is slower than most, if that is allowed.
     *
     * @return whether a hedge was started
     */
    boolean hedge(UploadAttempt slow) {
        UploadAttempt hedge;
        synchronized (this) {
            if (state != UploadState.RUNNING
                    || live.size() != 1
                    || live.get(0) != slow
                    || !uploader.mayHedge(slow)) {
                return false;
            }
            hedge = newAttempt(AttemptKind.HEDGE);
        }
        hedge.submit();
        return true;
    }

    /**
     * Starts a second attempt for one that has timed out. Replaces an attempt that has not started,
     * such as a hedge that waits for the slot of the attempt that has timed out.
     *
     * @return whether an attempt was started
     */
    boolean probe(UploadAttempt hanging) {
        List<UploadAttempt> waiting;
        UploadAttempt probe;
        synchronized (this) {
            if (state != UploadState.RUNNING || !live.contains(hanging)) {
                return false;
            }
            waiting = new ArrayList<>(live);
            waiting.remove(hanging);
            if (waiting.stream().anyMatch(UploadAttempt::hasBegun)) {
                return false;
            }
            probe = newAttempt(AttemptKind.PROBE);
            live.removeAll(waiting);
        }
        waiting.forEach(UploadAttempt::cancel);
        probe.submit();
        return true;
    }

    /** Cancels an attempt if there is another one, which is as likely to succeed. */
    void withdraw(UploadAttempt attempt) {
        synchronized (this) {
            if (live.size() < 2 || !live.remove(attempt)) {
                return;
            }
        }
        attempt.cancel();
        uploader.probing.consider();
    }

    /** Cancels an attempt, and starts a new one unless there is another one. */
    void replace(UploadAttempt hanging) {
        boolean another;
        synchronized (this) {
            if (state != UploadState.RUNNING || !uploader.mayAbandon() || !live.remove(hanging)) {
                return;
            }
            another = !live.isEmpty();
        }
        hanging.cancel();
        if (another) {
            return;
        }
        if (uploader.policy.allowsSecondAttempts()) {
            uploader.hedging.budget().spend(hanging.bytes());
            startNeeded();
        } else {
            failed(hanging, null, new IOException("No answer, the attempt was cancelled"));
        }
    }

    /**
     * Returns the segment that an attempt shall write. Encodes it for the first attempt.
     *
     * @return null if the segment is no longer needed; the attempt has ended then
     */
    @Nullable
    EncodedSegment encodedFor(UploadAttempt attempt) {
        synchronized (this) {
            if (state != UploadState.RUNNING) {
                live.remove(attempt);
                return null;
            }
            if (segment != null) {
                return segment;
            }
            // Only the first attempt encodes: a second one starts after the first began to write.
            encoding = true;
        }
        EncodedSegment encoded = null;
        try {
            encoded = uploader.encoders.encodeHere(source::encode);
        } finally {
            encoded(encoded);
        }
        return encoded;
    }

    /** Reports that an attempt begins to write; returns how many have. */
    synchronized int began() {
        return ++begun;
    }

    private void encoded(@Nullable EncodedSegment encoded) {
        boolean discard;
        synchronized (this) {
            encoding = false;
            boolean settled = state.isSettled();
            segment = settled ? null : encoded;
            discard = settled && encoded == null;
        }
        if (discard) {
            source.discard();
        }
    }

    /** Returns null if that fails; the action is done when a checkpoint needs the segment then. */
    @Nullable
    private Timer later(Runnable action, long delayMillis) {
        try {
            return uploader.timers.schedule(action, delayMillis);
        } catch (Throwable noMemory) {
            LOG.debug("Segment {} waits for a checkpoint that needs it", sequence, noMemory);
            return null;
        }
    }

    /**
     * Reports that an attempt has written and closed its file.
     *
     * @param nanos duration of the attempt
     */
    void succeeded(UploadAttempt attempt, Path file, EncodedSegment written, long nanos) {
        List<UploadAttempt> overtaken = List.of();
        try {
            overtaken = uploader.succeeded(attempt, written.length(), nanos);
        } catch (Throwable noMemory) {
            LOG.debug("The statistics lack {}", attempt, noMemory);
            uploader.live.ended(attempt);
        }
        try {
            settle(attempt, file, written, nanos);
        } finally {
            overtaken.forEach(UploadAttempt::replace);
            uploader.probing.consider();
        }
    }

    private void settle(UploadAttempt attempt, Path file, EncodedSegment written, long nanos) {
        Runnable durable;
        try {
            durable = source.durableAs(file, written);
        } catch (Throwable noMemory) {
            try {
                uploader.registry.discardAttempt(file);
            } finally {
                ended(attempt, noMemory, false, false);
            }
            return;
        }
        boolean won;
        int started;
        synchronized (this) {
            live.remove(attempt);
            won = state == UploadState.RUNNING;
            if (won) {
                settle(UploadState.DURABLE);
                segment = null;
            }
            started = begun;
        }
        if (!won) {
            uploader.registry.discardAttempt(file);
            return;
        }
        try {
            cancelLive();
            uploader.metrics.segmentUploaded(written.length(), nanos, attempt.ordinal(), started);
            if (attempt.kind() == AttemptKind.HEDGE) {
                uploader.metrics.hedgeWon();
            }
        } finally {
            durable.run();
        }
    }

    /**
     * Reports that no thread could be started for an attempt, which does not count against the
     * store.
     */
    void notStarted(UploadAttempt attempt, Throwable cause) {
        uploader.notStarted(attempt, cause);
        ended(attempt, cause, false, false);
    }

    /**
     * Reports that an attempt has failed.
     *
     * @param file file that it may have left behind; null if it did not get that far
     */
    void failed(UploadAttempt attempt, @Nullable Path file, Throwable cause) {
        if (file != null) {
            uploader.registry.discardAttemptTwice(file);
        }
        boolean throttled = Throttling.isCauseOf(cause);
        uploader.metrics.attemptFailed(throttled);
        boolean encodingFailed;
        synchronized (this) {
            if (state != UploadState.RUNNING) {
                live.remove(attempt);
                return;
            }
            encodingFailed = segment == null;
        }
        if (encodingFailed) {
            LOG.error(
                    "State changes could not be encoded as {}; they are kept and retried. This is a"
                            + " defect, please report it.",
                    attempt,
                    cause);
        } else {
            LOG.debug("Uploading state changes as {} failed", attempt, cause);
            uploader.health.failed(cause, throttled);
        }
        ended(attempt, cause, throttled, encodingFailed);
        uploader.probing.consider();
    }

    /**
     * Reports that an attempt has failed, and that reporting why has failed as well. No effect if
     * it has ended all the same.
     */
    void failedUnexplained(UploadAttempt attempt, Class<?> exception) {
        synchronized (this) {
            if (!live.contains(attempt)) {
                return;
            }
        }
        Throwable cause;
        try {
            cause = new IOException("Failed with " + exception.getName() + ", which says no more");
            uploader.metrics.attemptFailed(false);
            uploader.health.failed(cause, false);
        } catch (Throwable noMemory) {
            cause = noMemory;
        }
        ended(attempt, cause, false, false);
        uploader.probing.consider();
    }

    /** Ends an attempt. If it was the last live one, schedules another or suspends the upload. */
    private void ended(
            UploadAttempt attempt, Throwable cause, boolean throttled, boolean encodingFailed) {
        int failed;
        synchronized (this) {
            live.remove(attempt);
            if (state != UploadState.RUNNING) {
                return;
            }
            failed = ++failures;
            if (!live.isEmpty()) {
                return;
            }
            RetryPolicy policy = uploader.policy;
            if (!encodingFailed && !policy.givesUpAfter(failures)) {
                if (retry != null) {
                    retry.cancel();
                }
                double random = uploader.random();
                retry = later(this::retry, policy.retryDelayMillis(failed, throttled, random));
                return;
            }
            state = state.to(UploadState.SUSPENDED);
        }
        Timer unused = later(this::ensureRunning, uploader.policy.suspensionMillis());
        source.suspended(
                encodingFailed ? notEncoded(attempt, cause) : complaint(attempt, failed, cause));
    }

    /** Not a {@link StoreException}, since waiting for the store does not help. */
    private static IOException notEncoded(UploadAttempt attempt, Throwable cause) {
        return new IOException(
                "State changes could not be encoded as "
                        + attempt
                        + ": "
                        + StoreException.describe(cause));
    }

    private static IOException complaint(UploadAttempt attempt, int failed, Throwable cause) {
        return StoreException.of(
                String.format(
                        "Uploading state changes failed %d times, the last time as %s: %s. They are"
                                + " kept and uploaded later, so the next checkpoint can succeed."
                                + " Check the store; '%s: until-success' lets checkpoints wait for it"
                                + " instead.",
                        failed,
                        attempt,
                        StoreException.describe(cause),
                        DstlOptions.RETRY_POLICY.key()),
                cause);
    }
}
