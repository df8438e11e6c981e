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

package dev.dstl.changelog.metrics;

/**
 * The throughput of one part of a task's latest restores, used to estimate how long the next one
 * takes. Thread-safe.
 *
 * <p>Reads that hang make a restore slow once, often those of all tasks of a process at the same
 * time. So the assumed rate weighs as much as a measured one. And a rate that is too low does not
 * stay so, although changelogs are kept short because of it: small restores cannot lower it, but
 * raise it again.
 */
public final class RestoreRate {

    /** Weight of a new measurement. */
    private static final double WEIGHT = 0.5;

    /**
     * Two busy cores, RocksDB, two tasks that restore for the first time in their process: 10 to 12
     * MiB/s with records of 17 stored bytes, 27 MiB/s with records of 20 of which half are
     * obsolete.
     */
    private static final RestoreRate CHANGELOGS = new RestoreRate(16L << 20, 4L << 20);

    /** RocksDB from an object store, in the same processes: 25 MB in 0.9 s, 175 MB in 1.8 s. */
    private static final RestoreRate BASES = new RestoreRate(64L << 20, 16L << 20);

    private final double assumed;
    private final long leastBytes;
    private volatile double bytesPerSecond;

    /**
     * Creates a rate.
     *
     * @param assumed bytes per second, which count as the first measurement
     * @param leastBytes size of the smallest restore that counts as a measurement; a smaller one
     *     measures how a restore starts, so the throughput is at least what it shows
     */
    public RestoreRate(long assumed, long leastBytes) {
        this.assumed = assumed;
        this.bytesPerSecond = assumed;
        this.leastBytes = leastBytes;
    }

    /** Returns the rate at which a task of this process replays changelogs; at first 16 MiB/s. */
    public static RestoreRate ofChangelogs() {
        return CHANGELOGS;
    }

    /** Returns the rate at which a task of this process loads bases; at first 64 MiB/s. */
    public static RestoreRate ofBases() {
        return BASES;
    }

    /** Returns the throughput of a task in stored bytes per second. */
    public long bytesPerSecond() {
        return (long) bytesPerSecond;
    }

    /**
     * Estimates a duration.
     *
     * @param bytes size in the store
     * @return seconds
     */
    public double seconds(long bytes) {
        return bytes / bytesPerSecond;
    }

    /**
     * Returns whether a restore of this size measures the rate, whatever the rate is.
     *
     * @param bytes size in the store
     */
    public boolean measures(long bytes) {
        return bytes >= leastBytes;
    }

    /**
     * Adds a measurement. A smaller restore than one that measures the rate only raises it, up to
     * the assumed rate, and weighs less in proportion.
     *
     * @param bytes size in the store
     * @param nanos time it took
     */
    public synchronized void measured(long bytes, long nanos) {
        if (nanos <= 0) {
            return;
        }
        double rate = bytes * 1e9 / nanos;
        if (measures(bytes)) {
            approach(rate, WEIGHT);
        } else if (Math.min(rate, assumed) > bytesPerSecond) {
            approach(Math.min(rate, assumed), WEIGHT * bytes / leastBytes);
        }
    }

    private synchronized void approach(double rate, double weight) {
        bytesPerSecond = bytesPerSecond + weight * (rate - bytesPerSecond);
    }
}
