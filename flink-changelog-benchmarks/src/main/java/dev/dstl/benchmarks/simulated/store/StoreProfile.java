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

import java.util.Objects;

/**
 * The behaviour of a simulated store without outages. Immutable. The latency of a request is
 * log-normal with the given median and 99 % quantile, except for the tail. Fractions are of all
 * requests, in {@code [0, 1]}; 0 disables a limit or a fault.
 */
public final class StoreProfile {

    private final long seed;
    private final long p50Millis;
    private final long p99Millis;
    private final double tailFraction;
    private final long tailMillis;
    private final long bytesPerSecond;
    private final int requestsPerSecond;
    private final double throttledFraction;
    private final double failedFraction;
    private final double lostAcknowledgementFraction;

    private StoreProfile(Builder builder) {
        this.seed = builder.seed;
        this.p50Millis = builder.p50Millis;
        this.p99Millis = builder.p99Millis;
        this.tailFraction = builder.tailFraction;
        this.tailMillis = builder.tailMillis;
        this.bytesPerSecond = builder.bytesPerSecond;
        this.requestsPerSecond = builder.requestsPerSecond;
        this.throttledFraction = builder.throttledFraction;
        this.failedFraction = builder.failedFraction;
        this.lostAcknowledgementFraction = builder.lostAcknowledgementFraction;
    }

    /** Returns the profile of a store that answers at once and never fails. */
    public static StoreProfile instant() {
        return builder().build();
    }

    /** Returns a builder that starts from {@link #instant()}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns the seed of the random latencies and failures. */
    public long seed() {
        return seed;
    }

    /** Returns the median latency. */
    public long p50Millis() {
        return p50Millis;
    }

    /** Returns the 99 % quantile of the latency, without the tail. */
    public long p99Millis() {
        return p99Millis;
    }

    /** Returns the fraction of requests in the tail. */
    public double tailFraction() {
        return tailFraction;
    }

    /** Returns the latency of requests in the tail. */
    public long tailMillis() {
        return tailMillis;
    }

    /** Returns the bandwidth of one stream in bytes per second; 0 for unlimited. */
    public long bytesPerSecond() {
        return bytesPerSecond;
    }

    /**
     * Returns the number of requests per second, of all types together, above which a process is
     * throttled.
     */
    public int requestsPerSecond() {
        return requestsPerSecond;
    }

    /** Returns the fraction of requests that are throttled at any rate. */
    public double throttledFraction() {
        return throttledFraction;
    }

    /** Returns the fraction of requests that fail without effect. */
    public double failedFraction() {
        return failedFraction;
    }

    /** Returns the fraction of requests that take effect but report a failure. */
    public double lostAcknowledgementFraction() {
        return lostAcknowledgementFraction;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoreProfile
                && describe().equals(((StoreProfile) other).describe());
    }

    @Override
    public int hashCode() {
        return describe().hashCode();
    }

    @Override
    public String toString() {
        return describe();
    }

    private String describe() {
        return "seed="
                + seed
                + ", p50="
                + p50Millis
                + " ms, p99="
                + p99Millis
                + " ms, tail="
                + tailFraction
                + " at "
                + tailMillis
                + " ms, bandwidth="
                + bytesPerSecond
                + " B/s, rate="
                + requestsPerSecond
                + "/s, throttled="
                + throttledFraction
                + ", failed="
                + failedFraction
                + ", lost acknowledgements="
                + lostAcknowledgementFraction;
    }

    /** Builds a profile; {@link #build()} checks all values together. */
    public static final class Builder {

        private long seed = 1;
        private long p50Millis;
        private long p99Millis;
        private double tailFraction;
        private long tailMillis;
        private long bytesPerSecond;
        private int requestsPerSecond;
        private double throttledFraction;
        private double failedFraction;
        private double lostAcknowledgementFraction;

        private Builder() {}

        /** Sets the seed of the random latencies and failures. */
        public Builder seed(long value) {
            seed = value;
            return this;
        }

        /** Sets the median and the 99 % quantile of the latency. */
        public Builder latencyMillis(long p50, long p99) {
            p50Millis = p50;
            p99Millis = p99;
            return this;
        }

        /** Sets the fraction of requests in the tail, and their latency. */
        public Builder tail(double fraction, long millis) {
            tailFraction = fraction;
            tailMillis = millis;
            return this;
        }

        /** Sets the bandwidth of one stream in bytes per second. */
        public Builder bytesPerSecond(long value) {
            bytesPerSecond = value;
            return this;
        }

        /** Sets the number of requests per second above which requests are throttled. */
        public Builder requestsPerSecond(int value) {
            requestsPerSecond = value;
            return this;
        }

        /** Sets the fraction of requests that are throttled at any rate. */
        public Builder throttledFraction(double value) {
            throttledFraction = value;
            return this;
        }

        /** Sets the fraction of requests that fail without effect. */
        public Builder failedFraction(double value) {
            failedFraction = value;
            return this;
        }

        /** Sets the fraction of requests that take effect but report a failure. */
        public Builder lostAcknowledgementFraction(double value) {
            lostAcknowledgementFraction = value;
            return this;
        }

        /**
         * Builds the profile.
         *
         * @throws IllegalArgumentException if a value is out of range; the message names it
         */
        public StoreProfile build() {
            require(p50Millis >= 0, "latency p50 must be at least 0 ms", p50Millis);
            require(
                    p99Millis >= p50Millis && (p50Millis > 0 || p99Millis == 0),
                    "latency p99 must be at least p50, and both be 0 or neither",
                    p50Millis + " ms and " + p99Millis + " ms");
            require(tailMillis >= 0, "latency of the tail must be at least 0 ms", tailMillis);
            require(bytesPerSecond >= 0, "bandwidth must be at least 0 B/s", bytesPerSecond);
            require(requestsPerSecond >= 0, "request rate must be at least 0", requestsPerSecond);
            requireFraction("tail", tailFraction);
            requireFraction("throttled", throttledFraction);
            requireFraction("failed", failedFraction);
            requireFraction("lost acknowledgement", lostAcknowledgementFraction);
            requireFraction(
                    "throttled, failed and lost acknowledgement together",
                    throttledFraction + failedFraction + lostAcknowledgementFraction);
            return new StoreProfile(this);
        }

        private static void requireFraction(String name, double value) {
            require(value >= 0 && value <= 1, "fraction " + name + " must be in [0, 1]", value);
        }

        private static void require(boolean holds, String rule, Object value) {
            if (!holds) {
                throw new IllegalArgumentException(
                        "Simulated store: " + rule + ", but is " + Objects.toString(value));
            }
        }
    }
}
