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

    /** Names in one answer to a LIST, as on S3. */
    private static final int LIST_PAGE = 1000;

    private final ObjectContent content;
    private final StoreProfile profile;
    private final StoreTime time;
    private final OutageSwitch outage;
    private final RequestCounters counters;
    private final RequestPlanner planner;
    private final RequestRateLimit rateLimit;

    /** A store with its behaviour, its objects and its faults. */
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

    /** Room for the bytes of a later {@link #put}; costs no request. The caller closes it. */
    public StagedObject stage() throws IOException {
        return content.stage();
    }

    /** Writes a whole object, replacing what was there. */
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

    /** Copies an object inside the store; its bytes do not travel. */
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

    /** The visible object of that name, if there is one. */
    public Optional<StoredObject> head(String key) throws IOException {
        return exchange(RequestType.HEAD, key, 0, () -> content.find(key));
    }

    /** Opens the bytes from {@code from} on; reading them is paced by the bandwidth. */
    public InputStream get(String key, long from) throws IOException {
        InputStream body = exchange(RequestType.GET, key, 0, () -> content.open(key, from));
        return new PacedInputStream(body, time, profile.bytesPerSecond(), counters);
    }

    /** Removes an object; returns whether there was one. */
    public boolean delete(String key) throws IOException {
        return exchange(RequestType.DELETE, key, 0, () -> content.delete(key));
    }

    /** All objects under {@code prefix} in the order of their keys; one request for each page. */
    public List<StoredObject> list(String prefix) throws IOException {
        List<StoredObject> found =
                exchange(RequestType.LIST, prefix, 0, () -> content.list(prefix));
        for (int listed = LIST_PAGE; listed < found.size(); listed += LIST_PAGE) {
            exchange(RequestType.LIST, prefix, 0, () -> null);
        }
        return found;
    }

    /** Begins and ends outages. */
    public OutageSwitch outage() {
        return outage;
    }

    /** What this process has requested so far. */
    public RequestCounts counts() {
        return counters.counts();
    }

    /** How the store behaves apart from scripts and outages. */
    public StoreProfile profile() {
        return profile;
    }

    /** Overrides the profile for one request: the next of {@code type} not yet scripted. */
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

    /** How long {@code bytes} travel; no time at all when the bandwidth is 0, that is unlimited. */
    static long transferNanos(long bytes, long bytesPerSecond) {
        return bytesPerSecond == 0
                ? 0
                : (long) ((double) bytes / bytesPerSecond * TimeUnit.SECONDS.toNanos(1));
    }

    /** What a request does when it gets through. */
    private interface Effect<T> {
        T apply() throws IOException;
    }
}
