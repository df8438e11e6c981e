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

package dev.dstl.log.compaction;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.commit.SealedBatch;
import dev.dstl.log.execution.ErrorLog;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.execution.Timers.Timer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.annotation.Nullable;

/**
 * Outputs of compactions that wait to share a segment: one request then serves all changelogs of a
 * TaskManager that were compacted at about the same time. They wait for a short linger, until they
 * reach a size, or until no other changelog could join. While outputs are being uploaded, further
 * ones are gathered. Thread-safe; no method blocks.
 */
final class GatheredOutputs {

    /**
     * Barriers of one checkpoint are seldom further apart. A checkpoint that is taken before the
     * output is durable names the inputs, which costs it nothing.
     */
    static final long LINGER_MILLIS = 500;

    private static final ErrorLog LOG = new ErrorLog(GatheredOutputs.class);

    private final Timers timers;
    private final long rollBytes;
    private final Runnable whenLingered;

    /** Values are the sizes of the records in bytes. */
    @GuardedBy("this")
    private final Map<CompactionOutput, Long> gathered = new LinkedHashMap<>();

    @GuardedBy("this")
    private final Set<CompactionOutput> uploading = new HashSet<>();

    @GuardedBy("this")
    @Nullable
    private Timer linger;

    @GuardedBy("this")
    private boolean lingered;

    /**
     * Creates an empty queue.
     *
     * @param rollBytes total size of records that is uploaded without further waiting
     * @param whenLingered called after the linger; must call {@link #submitDue}
     */
    GatheredOutputs(Timers timers, long rollBytes, Runnable whenLingered) {
        this.timers = timers;
        this.rollBytes = rollBytes;
        this.whenLingered = whenLingered;
    }

    /**
     * Adds the output of a compaction.
     *
     * @param bytes size of its records
     */
    synchronized void add(CompactionOutput output, long bytes) {
        gathered.put(output, bytes);
        if (linger == null) {
            linger = timers.schedule(this::lingered, LINGER_MILLIS);
        }
    }

    private void lingered() {
        synchronized (this) {
            lingered = !gathered.isEmpty();
        }
        whenLingered.run();
    }

    /** Removes a compaction that has ended. */
    synchronized void remove(CompactionOutput output) {
        uploading.remove(output);
        if (gathered.remove(output) != null && gathered.isEmpty()) {
            endLinger();
        }
    }

    /** Ends the linger; the next output starts a new one. */
    @GuardedBy("this")
    private void endLinger() {
        lingered = false;
        if (linger != null) {
            linger.cancel();
            linger = null;
        }
    }

    @GuardedBy("this")
    private long gatheredBytes() {
        return gathered.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns whether outputs are waiting. */
    synchronized boolean isGathering() {
        return !gathered.isEmpty();
    }

    /** Returns whether outputs are being uploaded. */
    synchronized boolean isUploading() {
        return !uploading.isEmpty();
    }

    /**
     * Submits the outputs if they are due. Called without a lock held.
     *
     * @return whether they were submitted
     */
    boolean submitDue(GroupCommit commit) {
        List<CompactionOutput> due;
        List<CompactionOutput> submitted;
        List<SealedBatch> runs;
        long bytes;
        synchronized (this) {
            bytes = gatheredBytes();
            boolean isDue = lingered || bytes >= rollBytes || gathered.size() >= commit.logCount();
            if (gathered.isEmpty() || !uploading.isEmpty() || !isDue) {
                return false;
            }
            // Whatever is allocated comes first: what counts as being uploaded must be uploaded.
            due = new ArrayList<>(gathered.keySet());
            submitted = new ArrayList<>(due.size());
            runs = new ArrayList<>(due.size());
            try {
                uploading.addAll(due);
            } catch (Throwable t) {
                uploading.clear();
                throw t;
            }
            gathered.clear();
            endLinger();
        }
        for (CompactionOutput output : due) {
            SealedBatch run = startSubmitting(output, bytes);
            if (run == null) {
                remove(output);
            } else {
                submitted.add(output);
                runs.add(run);
            }
        }
        Throwable refusal = null;
        try {
            if (!runs.isEmpty()) {
                commit.submitOutputs(runs);
            }
        } catch (Throwable t) {
            refusal = t;
        }
        for (CompactionOutput output : submitted) {
            report(output, refusal);
        }
        return true;
    }

    /** Returns null if the run is no longer needed, or if that fails, which ends this run only. */
    @Nullable
    private static SealedBatch startSubmitting(CompactionOutput output, long bytes) {
        try {
            return output.startSubmitting(bytes);
        } catch (Throwable t) {
            report(output, t);
            return null;
        }
    }

    private static void report(CompactionOutput output, @Nullable Throwable refusal) {
        try {
            output.submitted(refusal);
        } catch (Throwable t) {
            LOG.error("A compaction failed to end; this is a defect, please report it.", t);
        }
    }
}
