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

package dev.dstl.benchmarks.simulated.store;

import dev.dstl.benchmarks.simulated.content.ObjectContent;
import dev.dstl.benchmarks.simulated.content.StagedObject;
import dev.dstl.benchmarks.simulated.content.StoredObject;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The requests of an object store: each is counted, takes its time, may fail, and only then has an
 * effect; what it writes is visible at the moment it ends. Thread-safe; a request blocks the thread
 * that sends it, and an interrupt ends it without effect.
 */
public final class SimulatedObjectStore {

    /** Number of names in one answer to a LIST, as on S3. */
    private static final int LIST_PAGE = 1000;

    private final ObjectContent content;
    private final StoreProfile profile;
    private final StoreTime time;
    private final OutageSwitch outage;
    private final RequestCounters counters;
    private final RequestPlanner planner;
    private final RequestRateLimit rateLimit;

    /** Creates a store. */
    public SimulatedObjectStore(
            ObjectContent content,
            StoreProfile profile,
            StoreTime time,
            OutageSwitch outage,
            RequestCounters counters) {
        this.content = content;
        this.profile = profile;
        this.time = time;
        this.outage = outage;
        this.counters = counters;
        this.planner = new RequestPlanner(profile);
        this.rateLimit = new RequestRateLimit(time, profile.requestsPerSecond());
    }

    /** Starts an object for a later {@link #put}, without a request. The caller closes it. */
    public StagedObject stage() throws IOException {
        return content.stage();
    }

    /** Writes an object, replacing an existing one. */
    public void put(String key, StagedObject staged) throws IOException {
        long bytes = staged.length();
        exchange(
                RequestType.PUT,
                key,
                bytes,
                () -> {
                    staged.publish(key);
                    counters.countBytesWritten(bytes);
                    return null;
                });
    }

    /** Copies an object inside the store, without transferring its bytes. */
    public void copy(String from, String to) throws IOException {
        exchange(
                RequestType.PUT,
                to,
                0,
                () -> {
                    try (InputStream source = content.open(from, 0);
                            StagedObject target = content.stage()) {
                        byte[] buffer = new byte[1 << 16];
                        for (int n = source.read(buffer); n >= 0; n = source.read(buffer)) {
                            target.write(buffer, 0, n);
                        }
                        target.publish(to);
                    }
                    return null;
                });
    }

    /** Returns the visible object with a key. */
    public Optional<StoredObject> head(String key) throws IOException {
        return exchange(RequestType.HEAD, key, 0, () -> content.find(key));
    }

    /** Opens the bytes from {@code from} on. Reading is limited by the bandwidth. */
    public InputStream get(String key, long from) throws IOException {
        InputStream body = exchange(RequestType.GET, key, 0, () -> content.open(key, from));
        return new PacedInputStream(body, time, profile.bytesPerSecond(), counters);
    }

    /** Deletes an object; returns whether it existed. */
    public boolean delete(String key) throws IOException {
        return exchange(RequestType.DELETE, key, 0, () -> content.delete(key));
    }

    /** Returns all objects under {@code prefix}, sorted by key, with one request per page. */
    public List<StoredObject> list(String prefix) throws IOException {
        List<StoredObject> found =
                exchange(RequestType.LIST, prefix, 0, () -> content.list(prefix));
        for (int listed = LIST_PAGE; listed < found.size(); listed += LIST_PAGE) {
            exchange(RequestType.LIST, prefix, 0, () -> null);
        }
        return found;
    }

    /** Returns the switch of outages. */
    public OutageSwitch outage() {
        return outage;
    }

    /** Returns the requests of this process so far. */
    public RequestCounts counts() {
        return counters.counts();
    }

    /** Returns the behaviour of the store without scripts and outages. */
    public StoreProfile profile() {
        return profile;
    }

    /** Overrides the profile for the next unscripted request of {@code type}. */
    public void script(RequestType type, RequestPlan plan) {
        planner.script(type, plan);
    }

    private <T> T exchange(RequestType type, String key, long sentBytes, Effect<T> effect)
            throws IOException {
        counters.countRequest(type);
        try {
            requireService(type, key);
            RequestPlan plan = planner.next(type);
            RequestOutcome outcome = rateLimit.admits() ? plan.outcome() : RequestOutcome.THROTTLED;
            if (outcome == RequestOutcome.THROTTLED) {
                // Refused on the headers; the body never travels.
                time.sleep(plan.latencyNanos());
                throw new SimulatedFailure(outcome, type, key);
            }
            time.sleep(plan.latencyNanos() + transferNanos(sentBytes, profile.bytesPerSecond()));
            requireService(type, key);
            if (outcome == RequestOutcome.FAILED || outcome == RequestOutcome.UNAVAILABLE) {
                throw new SimulatedFailure(outcome, type, key);
            }
            T answer = effect.apply();
            if (outcome == RequestOutcome.ACKNOWLEDGEMENT_LOST) {
                throw new SimulatedFailure(outcome, type, key);
            }
            return answer;
        } catch (SimulatedFailure e) {
            counters.countFailure(type);
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted =
                    new InterruptedIOException("Interrupted during " + type + " " + key);
            interrupted.initCause(e);
            throw interrupted;
        }
    }

    private void requireService(RequestType type, String key)
            throws IOException, InterruptedException {
        Optional<Outage> present = outage.awaitAnswer();
        if (present.isPresent() && present.get().refuses(type)) {
            throw new SimulatedFailure(present.get().outcome(), type, key);
        }
    }

    /**
     * Returns the transfer time of {@code bytes} in nanoseconds; 0 if the bandwidth is 0, that is,
     * unlimited.
     */
    static long transferNanos(long bytes, long bytesPerSecond) {
        return bytesPerSecond == 0
                ? 0
                : (long) ((double) bytes / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
    }

    /** The effect of a request that reaches the store. */
    private interface Effect<T> {
        T apply() throws IOException;
    }
}
