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

package dev.dstl.benchmarks.simulated;

import static org.apache.flink.configuration.ConfigOptions.key;

import dev.dstl.benchmarks.simulated.store.StoreProfile;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;

/**
 * Configuration keys of simulated stores. {@code sim.<option>} applies to all stores, {@code
 * sim.store.<authority>.<option>} to the store of {@code sim://<authority>/} only.
 */
public final class SimulatedStoreOptions {

    private static final String PREFIX = "sim.";
    private static final String STORE_PREFIX = PREFIX + "store.";

    /** Directory of a store that several processes share. */
    public static final ConfigOption<String> DIRECTORY =
            key("sim.directory")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Local directory that holds the objects, the request counters and the"
                                    + " outage marker, so that several processes share the store."
                                    + " Without it the store lives and dies with its process.");

    /** Seed of the random latencies and failures. */
    public static final ConfigOption<Long> SEED =
            key("sim.seed")
                    .longType()
                    .defaultValue(1L)
                    .withDescription(
                            "Seed of latencies and failures. Processes that share a store should"
                                    + " have different ones, or their tails coincide.");

    /** Median latency. */
    public static final ConfigOption<Duration> LATENCY_P50 =
            key("sim.latency.p50")
                    .durationType()
                    .defaultValue(Duration.ZERO)
                    .withDescription("Median latency of a request.");

    /** 99 % quantile of the latency, without the tail. */
    public static final ConfigOption<Duration> LATENCY_P99 =
            key("sim.latency.p99")
                    .durationType()
                    .defaultValue(Duration.ZERO)
                    .withDescription(
                            "99 % quantile of the latency of a request, without the tail.");

    /** Fraction of requests in the tail. */
    public static final ConfigOption<Double> TAIL_FRACTION =
            key("sim.latency.tail.fraction")
                    .doubleType()
                    .defaultValue(0.0)
                    .withDescription("Fraction of requests in the tail, in [0, 1].");

    /** Latency of requests in the tail. */
    public static final ConfigOption<Duration> TAIL_LATENCY =
            key("sim.latency.tail")
                    .durationType()
                    .defaultValue(Duration.ZERO)
                    .withDescription("Latency of a request in the tail.");

    /** Bandwidth of one stream, per second. */
    public static final ConfigOption<MemorySize> BANDWIDTH =
            key("sim.bandwidth")
                    .memoryType()
                    .defaultValue(MemorySize.ZERO)
                    .withDescription("Bytes per second of one stream; 0 for no limit.");

    /** Number of requests per second above which requests are throttled. */
    public static final ConfigOption<Integer> REQUESTS_PER_SECOND =
            key("sim.throttle.requests-per-second")
                    .intType()
                    .defaultValue(0)
                    .withDescription(
                            "Requests of one process above this rate are refused; 0 for no limit.");

    /** Fraction of requests that are throttled. */
    public static final ConfigOption<Double> THROTTLED_FRACTION =
            key("sim.throttle.fraction")
                    .doubleType()
                    .defaultValue(0.0)
                    .withDescription("Fraction of requests refused at any rate, in [0, 1].");

    /** Fraction of requests that fail. */
    public static final ConfigOption<Double> FAILED_FRACTION =
            key("sim.failure.fraction")
                    .doubleType()
                    .defaultValue(0.0)
                    .withDescription("Fraction of requests that fail without effect, in [0, 1].");

    /** Fraction of requests that succeed but report a failure. */
    public static final ConfigOption<Double> LOST_ACKNOWLEDGEMENT_FRACTION =
            key("sim.lost-acknowledgement.fraction")
                    .doubleType()
                    .defaultValue(0.0)
                    .withDescription(
                            "Fraction of requests that take effect and yet fail for the client,"
                                    + " in [0, 1].");

    private static final List<ConfigOption<?>> ALL =
            List.of(
                    DIRECTORY,
                    SEED,
                    LATENCY_P50,
                    LATENCY_P99,
                    TAIL_FRACTION,
                    TAIL_LATENCY,
                    BANDWIDTH,
                    REQUESTS_PER_SECOND,
                    THROTTLED_FRACTION,
                    FAILED_FRACTION,
                    LOST_ACKNOWLEDGEMENT_FRACTION);

    private SimulatedStoreOptions() {}

    /**
     * Returns the keys of one store; keys of the store override those of all stores.
     *
     * @throws IllegalConfigurationException if a key is unknown
     */
    static Configuration of(Configuration configuration, String authority) {
        String own = STORE_PREFIX + authority + ".";
        Map<String, String> general = new TreeMap<>();
        Map<String, String> special = new TreeMap<>();
        for (Map.Entry<String, String> entry : configuration.toMap().entrySet()) {
            String name = entry.getKey();
            if (name.startsWith(own)) {
                special.put(PREFIX + name.substring(own.length()), entry.getValue());
            } else if (name.startsWith(PREFIX) && !name.startsWith(STORE_PREFIX)) {
                general.put(name, entry.getValue());
            }
        }
        general.putAll(special);
        general.keySet().forEach(SimulatedStoreOptions::requireKnown);
        return Configuration.fromMap(general);
    }

    /**
     * Returns the profile that the keys describe.
     *
     * @throws IllegalConfigurationException if a value is out of range
     */
    static StoreProfile profile(Configuration keys) {
        try {
            return StoreProfile.builder()
                    .seed(keys.get(SEED))
                    .latencyMillis(
                            keys.get(LATENCY_P50).toMillis(), keys.get(LATENCY_P99).toMillis())
                    .tail(keys.get(TAIL_FRACTION), keys.get(TAIL_LATENCY).toMillis())
                    .bytesPerSecond(keys.get(BANDWIDTH).getBytes())
                    .requestsPerSecond(keys.get(REQUESTS_PER_SECOND))
                    .throttledFraction(keys.get(THROTTLED_FRACTION))
                    .failedFraction(keys.get(FAILED_FRACTION))
                    .lostAcknowledgementFraction(keys.get(LOST_ACKNOWLEDGEMENT_FRACTION))
                    .build();
        } catch (IllegalArgumentException e) {
            throw new IllegalConfigurationException(e.getMessage() + " (keys sim.*)", e);
        }
    }

    private static void requireKnown(String name) {
        if (ALL.stream().noneMatch(option -> option.key().equals(name))) {
            throw new IllegalConfigurationException(
                    "Unknown key of a simulated store: "
                            + name
                            + ". Known: "
                            + ALL.stream()
                                    .map(ConfigOption::key)
                                    .collect(Collectors.joining(", ")));
        }
    }
}
