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

package dev.dstl.log.simulation.invariant;

import dev.dstl.log.simulation.cluster.FileHistory;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;

/**
 * Each segment is uploaded once. Additional requests and their bytes are limited to those required
 * by failures of the store, plus the hedge budget. A store whose latency suddenly multiplies may
 * count as failing, and so does a request that takes so much longer than most that no timeout can
 * fit it.
 */
public final class Frugality extends Invariant {

    /** Additional requests that the unused budget of a changelog permits. */
    private static final int SAVED = 10;

    /**
     * Attempts that time out before the timeout fits: it starts at 50 ms here and is at most three
     * times as long after each that was too slow for it, so four of them reach 4 s, more than any
     * request takes unless it fails.
     */
    private static final int LEARNING = 4;

    /**
     * The timeout is three times the slowest of so many requests. A slow one may follow when all of
     * these were fast, so one in as many may time out though the store only varies.
     */
    private static final double FORGOTTEN_AFTER = LearnedTimeouts.LATEST;

    private static final double EXTRA_BYTES = 0.10;

    private final Map<String, Traffic> logs = new TreeMap<>();

    @Override
    public void created(String file, String client) {
        Traffic traffic = logs.computeIfAbsent(client, this::traffic);
        traffic.attempts.put(
                file, new Attempt(cluster().schedule().nowMillis(), traffic.timeouts.copy()));
        traffic.segments.computeIfAbsent(FileHistory.segmentOf(file), name -> new Segment());
    }

    private Traffic traffic(String client) {
        return new Traffic(cluster().writer(client).settings().attemptTimeoutMillis());
    }

    @Override
    public void sent(String file, String client, long bytes, boolean faultless) {
        Traffic traffic = logs.get(client);
        traffic.attempts.get(file).sent(cluster().schedule().nowMillis(), bytes, faultless);
        if (faultless) {
            traffic.segments.get(FileHistory.segmentOf(file)).faultlessBytes += bytes;
        }
    }

    @Override
    public void answered(String file, String client) {
        Traffic traffic = logs.get(client);
        Attempt attempt = traffic.attempts.get(file);
        traffic.timeouts.succeeded(attempt.bytes, attempt.millis());
    }

    @Override
    public void stored(String file) {
        Traffic traffic = logs.get(cluster().history(file).writer());
        traffic.attempts.get(file).storedBytes = cluster().store().bytes(file).length;
    }

    @Override
    public void settled() {
        for (SimulatedLog log : cluster().logs()) {
            Traffic traffic = logs.get(log.incarnation());
            if (traffic != null) {
                traffic.addDurable();
                checkRequests(log, traffic);
                checkBytes(log, traffic);
            }
        }
    }

    private void checkRequests(SimulatedLog log, Traffic traffic) {
        int needed = traffic.segments.size();
        int requests = traffic.attempts.size();
        int forced = traffic.count(Attempt::isForced);
        double timedOut = LEARNING + needed / FORGOTTEN_AFTER;
        double allowed = SAVED + timedOut + log.settings().hedgeBudget() * needed;
        if (requests - needed > forced + allowed) {
            violated(
                    "%s made %d requests for %d segments, of which the store failed %d",
                    log.incarnation(), requests, needed, forced);
        }
    }

    private void checkBytes(SimulatedLog log, Traffic traffic) {
        long durable = 0;
        long largest = 0;
        long wasted = 0;
        for (Segment segment : traffic.segments.values()) {
            if (segment.bytes > 0) {
                durable += segment.bytes;
                largest = Math.max(largest, segment.bytes);
                wasted += Math.max(0, segment.faultlessBytes - segment.bytes);
            }
        }
        double share = Math.max(EXTRA_BYTES, log.settings().hedgeBudget());
        int repeated = traffic.count(Attempt::isTooSlow) + SAVED + LEARNING;
        if (wasted > share * durable + repeated * largest) {
            violated(
                    "%s sent %d bytes in vain for %d that are durable",
                    log.incarnation(), wasted, durable);
        }
    }

    /** Traffic of one changelog. */
    private static final class Traffic {
        private final Map<String, Segment> segments = new TreeMap<>();
        private final Map<String, Attempt> attempts = new TreeMap<>();
        private final LearnedTimeouts timeouts;

        private Traffic(long timeoutMillis) {
            timeouts = new LearnedTimeouts(timeoutMillis);
        }

        /** Adds what faultless requests have stored; others may have left parts of segments. */
        private void addDurable() {
            attempts.forEach(
                    (file, attempt) -> {
                        if (attempt.faultless) {
                            Segment segment = segments.get(FileHistory.segmentOf(file));
                            segment.bytes = Math.max(segment.bytes, attempt.storedBytes);
                        }
                    });
        }

        /** Counts the attempts of which something is true, given the bytes of their segment. */
        private int count(BiPredicate<Attempt, Long> what) {
            int count = 0;
            for (Map.Entry<String, Attempt> entry : attempts.entrySet()) {
                Segment segment = segments.get(FileHistory.segmentOf(entry.getKey()));
                count += what.test(entry.getValue(), segment.bytes) ? 1 : 0;
            }
            return count;
        }
    }

    /** One request. */
    private static final class Attempt {
        private final long startMillis;
        private final LearnedTimeouts timeouts;
        private long endMillis;
        private long bytes;
        private long storedBytes;
        private boolean faultless;

        private Attempt(long startMillis, LearnedTimeouts timeouts) {
            this.startMillis = startMillis;
            this.timeouts = timeouts;
        }

        private void sent(long nowMillis, long sentBytes, boolean withoutFault) {
            endMillis = nowMillis;
            bytes = sentBytes;
            faultless = withoutFault;
        }

        private long millis() {
            return endMillis - startMillis;
        }

        /** Whether the store failed the request, or it timed out whatever was slow before. */
        private boolean isForced(long segmentBytes) {
            return !faultless || isTooSlow(segmentBytes);
        }

        private boolean isTooSlow(long segmentBytes) {
            return faultless && millis() >= timeouts.longestMillis(Math.max(bytes, segmentBytes));
        }
    }

    /** Bytes sent and stored for one segment. */
    private static final class Segment {
        private long faultlessBytes;
        private long bytes;
    }
}
