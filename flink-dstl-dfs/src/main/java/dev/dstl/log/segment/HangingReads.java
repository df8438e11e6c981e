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

package dev.dstl.log.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The abandoned reads of this process whose threads have not returned. A client that ignores
 * interrupts keeps them, and each restart of a job adds some. Thread-safe.
 */
final class HangingReads {

    /** Number of threads from which a warning is logged. */
    static final int MANY = 20;

    /** Number of threads with which no further read starts. */
    static final int MAX = 1_024;

    /** Longer than a client needs to react to an interrupt. */
    private static final long REACTION_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger LOG = LoggerFactory.getLogger(HangingReads.class);
    private static final HangingReads OF_PROCESS = new HangingReads(MAX, System::nanoTime);

    private final int most;
    private final LongSupplier nanoTime;

    /** When each of them was abandoned. */
    @GuardedBy("this")
    private final IdentityHashMap<Object, Long> abandoned = new IdentityHashMap<>();

    @GuardedBy("this")
    private boolean reported;

    /**
     * Creates an empty set.
     *
     * @param most number of threads with which no further read starts
     */
    HangingReads(int most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    static HangingReads ofProcess() {
        return OF_PROCESS;
    }

    /**
     * Called before a read starts.
     *
     * @throws IOException if one more thread must not hang
     */
    void requireRoom() throws IOException {
        int hanging;
        boolean report;
        synchronized (this) {
            hanging = abandoned.size();
            report = !reported && ignoreInterrupt() >= MANY;
            reported |= report;
        }
        if (report) {
            LOG.warn(
                    "{} threads hang in the client of the changelog store with reads that were"
                            + " abandoned: the client ignores interrupts. At {} such threads, no"
                            + " changelog is read any more. Set the timeouts of the file system's"
                            + " client, check the network, and restart the TaskManager.",
                    hanging,
                    most);
        }
        if (hanging >= most) {
            throw new IOException(
                    String.format(
                            "%d threads of this process hang in reads that were abandoned. Restart"
                                    + " the TaskManager, and set the timeouts of the file system's"
                                    + " client.",
                            hanging));
        }
    }

    @GuardedBy("this")
    private int ignoreInterrupt() {
        int count = 0;
        for (long since : abandoned.values()) {
            count += nanoTime.getAsLong() - since >= REACTION_NANOS ? 1 : 0;
        }
        return count;
    }

    /** Reports that a read is abandoned whose thread has not returned. */
    synchronized void abandoned(Object read) {
        abandoned.put(read, nanoTime.getAsLong());
    }

    /** Reports that the thread of an abandoned read has returned. */
    synchronized void returned(Object read) {
        abandoned.remove(read);
        reported &= abandoned.size() >= MANY / 2;
    }
}
