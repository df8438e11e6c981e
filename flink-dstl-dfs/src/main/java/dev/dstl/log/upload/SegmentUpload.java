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
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.execution.Timers.Timer;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentEncoder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes one segment durable, by as many attempts as it takes. Each attempt has a file of its own.
 * An attempt that is slower than most, or overdue, gets another one beside it and stays alive; the
 * first to succeed wins, and the files of all others are deleted when they end. Only an attempt
 * that ended is ever called failed, and the upload rests only when none is alive.
 *
 * <p>Thread safe; no method blocks. The work is done on upload threads.
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

    @GuardedBy("this")
    private int attempts;

    /** Since the upload was last started or resumed. */
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

    /** Begins, or goes on if the upload rests. Does nothing otherwise. */
    public void ensureRunning() {
        synchronized (this) {
            if (state != UploadState.IDLE && state != UploadState.PARKED) {
                return;
            }
            state = state.to(UploadState.RUNNING);
            failures = 0;
        }
        startAttempt(null);
    }

    /** Nobody needs the segment any more. What attempts still write is deleted when they end. */
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
        if (discard) {
            source.discard();
        }
    }

    @GuardedBy("this")
    private void settle(UploadState settled) {
        state = state.to(settled);
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
        live.removeIf(UploadAttempt::withdraw);
    }

    private void retry() {
        synchronized (this) {
            retry = null;
            if (uploader.policy.givesUpAfter(failures)) {
                failures = 0;
            }
        }
        startAttempt(null);
    }

    /**
     * @param hedged the attempt that is slow, or null if the new one does not depend on it
     */
    private boolean startAttempt(@Nullable UploadAttempt hedged) {
        UploadAttempt attempt;
        synchronized (this) {
            if (state != UploadState.RUNNING
                    || live.size() >= RetryPolicy.MAX_LIVE_ATTEMPTS
                    || uploader.policy.givesUpAfter(failures)
                    || (hedged != null && !mayHedge(hedged))) {
                return false;
            }
            AttemptKind unhedged = live.isEmpty() ? AttemptKind.NEEDED : AttemptKind.OVERDUE;
            attempts++;
            attempt =
                    new UploadAttempt(
                            uploader,
                            this,
                            uploader.name(sequence, attempts),
                            hedged != null ? AttemptKind.HEDGE : unhedged);
            live.add(attempt);
        }
        attempt.submit();
        return true;
    }

    /**
     * What an attempt shall write.
     *
     * @return null if nobody needs it any more; the attempt is over then
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
            // Nobody else encodes: a second attempt only starts after the first began to write.
            encoding = true;
        }
        EncodedSegment encoded = null;
        try {
            SegmentEncoder encoder = uploader.encoders.borrow();
            encoded = source.encode(encoder);
            uploader.encoders.giveBack(encoder);
        } finally {
            encoded(encoded);
        }
        return encoded;
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

    @GuardedBy("this")
    private void retryIn(long delayMillis) {
        if (retry != null) {
            retry.cancel();
        }
        retry = uploader.timers.schedule(this::retry, delayMillis);
    }

    /**
     * An attempt is slower than most; it may get another one beside it.
     *
     * @return whether it got one
     */
    boolean hedge(UploadAttempt attempt) {
        return startAttempt(attempt);
    }

    @GuardedBy("this")
    private boolean mayHedge(UploadAttempt attempt) {
        return live.size() == 1 && live.get(0) == attempt && uploader.hedging.budget().trySpend();
    }

    /** An attempt is overdue; it gets another one beside it, unless a younger one is there. */
    void timedOut(UploadAttempt attempt) {
        long delayMillis;
        synchronized (this) {
            if (state != UploadState.RUNNING
                    || live.isEmpty()
                    || live.get(live.size() - 1) != attempt) {
                return;
            }
            delayMillis = uploader.policy.secondAttemptDelayMillis(live.size());
        }
        if (delayMillis > 0) {
            uploader.timers.schedule(
                    () -> startAttempt(null), delayMillis - uploader.policy.timeoutMillis());
        }
    }

    /** An attempt wrote everything and closed its file without complaint. */
    void succeeded(UploadAttempt attempt, Path file, EncodedSegment written, long nanos) {
        uploader.hedging.succeeded(written.length(), nanos);
        uploader.health.succeeded();
        boolean won;
        int started;
        synchronized (this) {
            live.remove(attempt);
            won = state == UploadState.RUNNING;
            if (won) {
                settle(UploadState.DURABLE);
                segment = null;
            }
            started = attempts;
        }
        if (won) {
            uploader.metrics.segmentUploaded(written.length(), nanos, attempt.number(), started);
            if (attempt.kind() == AttemptKind.HEDGE) {
                uploader.metrics.hedgeWon();
            }
            source.durable(file, written);
        } else {
            uploader.registry.discardAttempt(file);
        }
    }

    /**
     * An attempt ended in any other way.
     *
     * @param file what it may have left behind, if it got that far
     */
    void failed(UploadAttempt attempt, @Nullable Path file, Throwable cause) {
        boolean throttled = Throttling.isCauseOf(cause);
        uploader.metrics.attemptFailed(throttled);
        if (file != null) {
            uploader.registry.discardAttempt(file);
        }
        int failed;
        boolean park;
        boolean encodingFailed;
        synchronized (this) {
            live.remove(attempt);
            if (state != UploadState.RUNNING) {
                return;
            }
            failed = ++failures;
            encodingFailed = segment == null;
            boolean givesUp = encodingFailed || uploader.policy.givesUpAfter(failures);
            park = givesUp && live.isEmpty();
            if (park) {
                state = state.to(UploadState.PARKED);
            } else if (givesUp) {
                // The one that is alive may never report back, so nobody else would go on.
                retryIn(uploader.policy.restDelayMillis());
            } else if (retry == null) {
                retryIn(uploader.policy.retryDelayMillis(failed, throttled, uploader.random()));
            }
        }
        if (encodingFailed) {
            LOG.error(
                    "Changes could not be encoded as {}; they are kept and tried again. This is a"
                            + " defect, please report it.",
                    attempt,
                    cause);
        } else {
            LOG.debug("Uploading changes as {} failed, {} in a row", attempt, failed, cause);
            uploader.health.failed(cause, throttled);
        }
        if (park) {
            uploader.timers.schedule(this::ensureRunning, uploader.policy.restDelayMillis());
            source.parked(complaint(attempt, failed, cause));
        }
    }

    private static IOException complaint(UploadAttempt attempt, int failed, Throwable cause) {
        return new IOException(
                String.format(
                        "Uploading changes failed %d times, the last time as %s: %s. They are kept"
                                + " and uploaded later, so the next checkpoint can succeed. Check"
                                + " the store; '%s: until-success' lets checkpoints wait for it"
                                + " instead.",
                        failed, attempt, cause, DstlOptions.RETRY_POLICY.key()),
                cause);
    }
}
