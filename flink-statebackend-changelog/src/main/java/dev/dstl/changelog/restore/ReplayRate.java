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

package dev.dstl.changelog.restore;

/**
 * The throughput at which tasks of this process replayed their changelogs in their latest restores;
 * used to estimate the duration of the next one. Thread-safe.
 */
public final class ReplayRate {

    /**
     * Assumed throughput before the first restore. Two busy cores, RocksDB: 2.2 million changes of
     * 100 bytes in 3 s, of which 1 s is left when they are read while the base is loaded.
     */
    static final long ASSUMED_BYTES_PER_SECOND = 32L << 20;

    /** Smaller changelogs measure the start of a replay rather than its throughput. */
    private static final long LEAST_BYTES = 16L << 20;

    /** Weight of a new measurement. */
    private static final double WEIGHT = 0.5;

    private static final ReplayRate OF_PROCESS = new ReplayRate();

    private volatile double bytesPerSecond = ASSUMED_BYTES_PER_SECOND;
    private boolean measured;

    ReplayRate() {}

    /** Returns the rate of this process. */
    public static ReplayRate ofProcess() {
        return OF_PROCESS;
    }

    /**
     * Returns the throughput of a task in bytes of stored changelog per second; 32 MiB before the
     * first measurement.
     */
    public long bytesPerSecond() {
        return (long) bytesPerSecond;
    }

    /**
     * Adds a measurement.
     *
     * @param bytes size of the changelog in the store
     * @param nanos time from the loaded base to the last record
     */
    synchronized void measured(long bytes, long nanos) {
        if (bytes < LEAST_BYTES || nanos <= 0) {
            return;
        }
        double rate = bytes * 1e9 / nanos;
        bytesPerSecond = measured ? bytesPerSecond + WEIGHT * (rate - bytesPerSecond) : rate;
        measured = true;
    }
}
