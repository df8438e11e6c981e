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

import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import javax.annotation.Nullable;

/**
 * A link that divides its capacity equally among all running transfers. A transfer takes longer the
 * more there are, and useless transfers delay useful ones.
 */
public final class SharedLink {

    private final Schedule schedule;
    private final Lane lane;
    private final List<Transfer> transfers = new ArrayList<>();
    private double bytesPerMilli;
    private boolean stalled;
    private long progressMillis;
    private long busyMillis;
    @Nullable private Schedule.Delayed next;

    SharedLink(Schedule schedule, Lane lane, long bytesPerSecond) {
        this.schedule = schedule;
        this.lane = lane;
        this.bytesPerMilli = bytesPerSecond / 1_000.0;
    }

    /** Changes the capacity. */
    public void widenTo(long bytesPerSecond) {
        progress();
        bytesPerMilli = bytesPerSecond / 1_000.0;
        scheduleNext();
    }

    /** Duration of a transfer that has the link to itself. */
    public long aloneMillis(long bytes) {
        return (long) (bytes / bytesPerMilli);
    }

    /** Time with at least one transfer, since the beginning. */
    public long busyMillis() {
        progress();
        return busyMillis;
    }

    Transfer start(long bytes, Runnable whenDone) {
        progress();
        Transfer transfer = new Transfer(bytes, whenDone);
        transfers.add(transfer);
        scheduleNext();
        return transfer;
    }

    void stall(boolean stall) {
        progress();
        stalled = stall;
        scheduleNext();
    }

    private void progress() {
        long now = schedule.nowMillis();
        if (!stalled && !transfers.isEmpty()) {
            busyMillis += now - progressMillis;
            double each = (now - progressMillis) * bytesPerMilli / transfers.size();
            for (Transfer transfer : transfers) {
                transfer.left = Math.max(0, transfer.left - each);
            }
        }
        progressMillis = now;
    }

    private void scheduleNext() {
        if (next != null) {
            next.cancel();
            next = null;
        }
        if (stalled || transfers.isEmpty()) {
            return;
        }
        double least = Double.MAX_VALUE;
        for (Transfer transfer : transfers) {
            least = Math.min(least, transfer.left);
        }
        long millis = (long) Math.ceil(least * transfers.size() / bytesPerMilli);
        next = lane.addIn(millis, "transfers", this::finish);
    }

    private void finish() {
        next = null;
        progress();
        List<Transfer> done = new ArrayList<>();
        for (Transfer transfer : transfers) {
            if (transfer.left < 0.5) {
                done.add(transfer);
            }
        }
        transfers.removeAll(done);
        scheduleNext();
        done.forEach(transfer -> transfer.whenDone.run());
    }

    /** A transfer in progress. */
    final class Transfer {
        private final long bytes;
        private final Runnable whenDone;
        private double left;

        private Transfer(long bytes, Runnable whenDone) {
            this.bytes = bytes;
            this.whenDone = whenDone;
            this.left = bytes;
        }

        /** Cancels the transfer; bytes already sent stay sent. */
        void end() {
            progress();
            if (transfers.remove(this)) {
                scheduleNext();
            }
        }

        long sentBytes() {
            progress();
            return (long) (bytes - left);
        }
    }
}
