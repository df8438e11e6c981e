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
 * The rate at which the tasks of this process replayed their changelogs in their last restore; used
 * to estimate the duration of the next one. Thread safe.
 */
public final class ReplayRate {

    /**
     * What replay manages until a restore has shown more. Two busy cores, RocksDB: 2.2 million
     * changes of 100 bytes in 3 s, of which 1 s is left when they are read while the base loads.
     */
    static final long ASSUMED_BYTES_PER_SECOND = 32L << 20;

    /** A restore of less says more about starting than about replaying. */
    private static final long LEAST_BYTES = 16L << 20;

    /** A newer measurement counts so much. */
    private static final double WEIGHT = 0.5;

    private static final ReplayRate OF_PROCESS = new ReplayRate();

    private volatile double bytesPerSecond = ASSUMED_BYTES_PER_SECOND;
    private boolean measured;

    ReplayRate() {}

    /** That of all jobs of this process. */
    public static ReplayRate ofProcess() {
        return OF_PROCESS;
    }

    /** Bytes of changelog in the store per second of a task; 32 MiB until one was measured. */
    public long bytesPerSecond() {
        return (long) bytesPerSecond;
    }

    /**
     * A task has replayed.
     *
     * @param bytes in the store
     * @param nanos from the base to the last record
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
