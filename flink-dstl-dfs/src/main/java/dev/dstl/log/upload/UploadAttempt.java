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

import dev.dstl.log.execution.Timers.Timer;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.store.SegmentContent;
import dev.dstl.log.store.SegmentName;
import java.io.IOException;
import java.io.OutputStream;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/** One try to write a segment to a file of its own. Blocks the upload thread it runs on. */
final class UploadAttempt implements Runnable {

    private final SegmentUploader uploader;
    private final SegmentUpload upload;
    private final SegmentName name;
    private final AttemptKind kind;

    @Nullable private volatile AttemptSlots.Slot slot;

    UploadAttempt(
            SegmentUploader uploader, SegmentUpload upload, SegmentName name, AttemptKind kind) {
        this.uploader = uploader;
        this.upload = upload;
        this.name = name;
        this.kind = kind;
    }

    void submit() {
        slot = uploader.slots.submit(this);
    }

    /** Returns whether the attempt had not begun, and now never will. */
    boolean withdraw() {
        AttemptSlots.Slot place = slot;
        if (place == null || !place.withdraw()) {
            return false;
        }
        notMade();
        return true;
    }

    private void notMade() {
        if (kind == AttemptKind.HEDGE) {
            uploader.hedging.budget().giveBack();
        }
    }

    AttemptKind kind() {
        return kind;
    }

    int number() {
        return name.attempt();
    }

    @Override
    public void run() {
        Path file = null;
        Timer timeout = null;
        Timer hedge = null;
        EncodedSegment segment = null;
        long start = 0;
        Throwable failure = null;
        try {
            segment = upload.encodedFor(this);
            if (segment == null) {
                notMade();
                return;
            }
            account();
            timeout = after(uploader.policy.timeoutMillis(segment.length()), this::timedOut);
            hedge = armHedge(segment.length());
            start = uploader.timers.nanoTime();
            file = uploader.store.locate(name);
            uploader.store.write(file, contentOf(segment));
        } catch (Throwable t) {
            // Not only IOException: file systems also throw what their clients throw.
            failure = t;
        }
        cancel(timeout);
        cancel(hedge);
        // An interrupt says that the storage is closing; what follows has to be done all the same.
        Thread.interrupted();
        if (failure == null) {
            upload.succeeded(this, file, segment, uploader.timers.nanoTime() - start);
        } else {
            upload.failed(this, file, failure);
        }
    }

    private void account() {
        uploader.metrics.attemptStarted();
        if (kind == AttemptKind.NEEDED) {
            uploader.hedging.budget().earn();
            return;
        }
        uploader.metrics.extraAttemptStarted(kind == AttemptKind.HEDGE);
        if (kind == AttemptKind.OVERDUE) {
            uploader.hedging.budget().spend();
        }
    }

    @Nullable
    private Timer armHedge(long bytes) {
        return kind == AttemptKind.NEEDED
                ? after(uploader.hedging.delayMillis(bytes), this::hedgeDue)
                : null;
    }

    @Nullable
    private Timer after(long delayMillis, Runnable action) {
        return delayMillis == 0 ? null : uploader.timers.schedule(action, delayMillis);
    }

    private static void cancel(@Nullable Timer timer) {
        if (timer != null) {
            timer.cancel();
        }
    }

    /** The attempt beside it needs a place to run. */
    private void hedgeDue() {
        if (upload.hedge(this)) {
            giveUpPlace();
        }
    }

    private void timedOut() {
        giveUpPlace();
        uploader.health.overdue();
        upload.timedOut(this);
    }

    private void giveUpPlace() {
        AttemptSlots.Slot place = slot;
        if (place != null) {
            place.becameSlow();
        }
    }

    private static SegmentContent contentOf(EncodedSegment segment) {
        return new SegmentContent() {
            @Override
            public long length() {
                return segment.length();
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                segment.writeTo(out);
            }
        };
    }

    @Override
    public String toString() {
        return name.toString();
    }
}
