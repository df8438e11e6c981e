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
import dev.dstl.log.execution.Timers.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;

/**
 * A link to the store that the transfers of several TaskManagers share fairly: each in progress
 * gets the same part of the bandwidth, whoever began it. Exact on a clock of milliseconds: what
 * ends between two of them leaves its part to the others at once and is reported at the second.
 *
 * <p>For one thread at a time, as are the timers.
 */
public final class SharedLink {

    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Rounding error of sums, below one byte. */
    private static final double NOTHING = 1e-3;

    private final Timers timers;
    private final double bytesPerNano;
    private final long startNanos;
    private final List<Transfer> active = new ArrayList<>();
    private final List<long[]> stalls = new ArrayList<>();
    private LongSupplier latencyMillis = () -> 0;
    private long nowNanos;
    private double sentBytes;
    private long requests;
    private int maxActive;
    @Nullable private Timer next;

    /**
     * Starts idle, without stalls and latency.
     *
     * @param bytesPerSecond of all transfers together
     */
    public SharedLink(Timers timers, long bytesPerSecond) {
        this.timers = timers;
        this.bytesPerNano = bytesPerSecond / NANOS_PER_SECOND;
        this.startNanos = timers.nanoTime();
    }

    /**
     * Nothing is sent in {@code [from, to)}; transfers go on afterwards where they stood.
     *
     * @param fromMillis since the link was made, not before now nor the end of an earlier stall
     */
    public void stall(long fromMillis, long toMillis) {
        catchUp();
        stalls.add(
                new long[] {
                    TimeUnit.MILLISECONDS.toNanos(fromMillis),
                    TimeUnit.MILLISECONDS.toNanos(toMillis)
                });
        schedule();
    }

    /** Sets the time from the last byte to the answer, evaluated per transfer. */
    public void answerAfter(LongSupplier millis) {
        latencyMillis = millis;
    }

    /**
     * Begins to send.
     *
     * @param bytes 0 and more
     * @param answered runs when the store has answered, from a timer
     */
    public Transfer send(long bytes, Runnable answered) {
        catchUp();
        requests++;
        Transfer transfer = new Transfer(bytes, answered);
        active.add(transfer);
        maxActive = Math.max(maxActive, active.size());
        schedule();
        return transfer;
    }

    /** Bytes sent, including those of cancelled transfers. */
    public long sentBytes() {
        catchUp();
        return Math.round(sentBytes);
    }

    /** Number of transfers that began. */
    public long requests() {
        return requests;
    }

    /** Number of transfers in progress. */
    public int activeCount() {
        catchUp();
        return active.size();
    }

    /** Maximum number of concurrent transfers so far. */
    public int maxActive() {
        return maxActive;
    }

    /** Milliseconds since the link was made. */
    public long nowMillis() {
        return TimeUnit.NANOSECONDS.toMillis(timers.nanoTime() - startNanos);
    }

    private void catchUp() {
        long until = timers.nanoTime() - startNanos;
        double served = servedNanos(nowNanos, until);
        nowNanos = until;
        while (!active.isEmpty() && served > 0) {
            double shortest = shortest();
            double needed = shortest * active.size() / bytesPerNano;
            double passed = Math.min(needed, served);
            double each = passed * bytesPerNano / active.size();
            for (Transfer transfer : active) {
                transfer.leftBytes -= each;
            }
            sentBytes += each * active.size();
            served -= passed;
            endFinished();
        }
        endFinished();
    }

    private double shortest() {
        double shortest = Double.MAX_VALUE;
        for (Transfer transfer : active) {
            shortest = Math.min(shortest, transfer.leftBytes);
        }
        return shortest;
    }

    private void endFinished() {
        List<Transfer> finished = new ArrayList<>(1);
        for (Transfer transfer : active) {
            if (transfer.leftBytes < NOTHING) {
                finished.add(transfer);
            }
        }
        active.removeAll(finished);
        for (Transfer transfer : finished) {
            transfer.answer = timers.schedule(transfer.answered, latencyMillis.getAsLong());
        }
    }

    /** Time within an interval that was not stalled. */
    private double servedNanos(long from, long to) {
        long served = to - from;
        for (long[] stall : stalls) {
            served -= Math.max(0, Math.min(to, stall[1]) - Math.max(from, stall[0]));
        }
        return served;
    }

    /** Schedules the end of the next transfer, rounded up to a millisecond. */
    private void schedule() {
        if (next != null) {
            next.cancel();
            next = null;
        }
        if (active.isEmpty()) {
            return;
        }
        double left = shortest() * active.size() / bytesPerNano;
        long at = nowNanos;
        for (long[] stall : stalls) {
            if (stall[1] > at) {
                long before = Math.max(0, stall[0] - at);
                if (left <= before) {
                    break;
                }
                left -= before;
                at = stall[1];
            }
        }
        double delayNanos = at - nowNanos + left;
        long delayMillis = (long) Math.ceil(delayNanos / TimeUnit.MILLISECONDS.toNanos(1) - 1e-6);
        next = timers.schedule(this::wakeUp, Math.max(0, delayMillis));
    }

    private void wakeUp() {
        next = null;
        catchUp();
        schedule();
    }

    /** One transfer. */
    public final class Transfer {
        private final Runnable answered;
        private double leftBytes;
        @Nullable private Timer answer;

        private Transfer(long bytes, Runnable answered) {
            this.leftBytes = bytes;
            this.answered = answered;
        }

        /** Cancels the transfer; it gets no answer. */
        public void cancel() {
            catchUp();
            active.remove(this);
            if (answer != null) {
                answer.cancel();
            }
            schedule();
        }
    }
}
