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

import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Determines latency and outcome of each request from a seed: the n-th request gets the n-th plan,
 * whichever thread sends it, so a run with one thread is reproducible, and a run with several has
 * the same set of plans. Thread-safe.
 */
final class RequestPlanner {

    /** The 99 % quantile of the standard normal distribution. */
    private static final double NORMAL_P99 = 2.3263478740408408;

    private final StoreProfile profile;
    private final double meanOfLog;
    private final double deviationOfLog;
    private final Random random;
    private final Map<RequestType, Queue<RequestPlan>> scripted = new EnumMap<>(RequestType.class);

    RequestPlanner(StoreProfile profile) {
        this.profile = profile;
        this.meanOfLog = Math.log((double) profile.p50Millis());
        this.deviationOfLog = (Math.log((double) profile.p99Millis()) - meanOfLog) / NORMAL_P99;
        this.random = new Random(profile.seed());
        for (RequestType type : RequestType.values()) {
            scripted.put(type, new ArrayDeque<>());
        }
    }

    /** Sets the plan of the next unscripted request of {@code type}. */
    synchronized void script(RequestType type, RequestPlan plan) {
        scripted.get(type).add(plan);
    }

    synchronized RequestPlan next(RequestType type) {
        RequestPlan plan = scripted.get(type).poll();
        return plan == null ? draw() : plan;
    }

    private RequestPlan draw() {
        // Every request draws the same number of values, so that switching one fault on does not
        // change the latencies of a seed.
        double body = random.nextGaussian();
        double tail = random.nextDouble();
        double fault = random.nextDouble();
        return new RequestPlan(latencyNanos(body, tail), outcome(fault));
    }

    private long latencyNanos(double body, double tail) {
        if (tail < profile.tailFraction()) {
            return TimeUnit.MILLISECONDS.toNanos(profile.tailMillis());
        }
        if (profile.p50Millis() == 0) {
            return 0;
        }
        double millis = Math.exp(meanOfLog + deviationOfLog * body);
        return (long) (millis * TimeUnit.MILLISECONDS.toNanos(1));
    }

    private RequestOutcome outcome(double fault) {
        double threshold = profile.throttledFraction();
        if (fault < threshold) {
            return RequestOutcome.THROTTLED;
        }
        threshold += profile.failedFraction();
        if (fault < threshold) {
            return RequestOutcome.FAILED;
        }
        threshold += profile.lostAcknowledgementFraction();
        return fault < threshold ? RequestOutcome.ACKNOWLEDGEMENT_LOST : RequestOutcome.SUCCESS;
    }
}
