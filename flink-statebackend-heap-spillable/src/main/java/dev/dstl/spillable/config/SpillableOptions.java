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

package dev.dstl.spillable.config;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * Configuration of the spillable backend. Keys of Flink's abandoned preview keep their names where
 * they still mean something.
 */
public final class SpillableOptions {

    private static final String PREFIX = "state.backend.spillable.";

    public static final ConfigOption<MemorySize> CHUNK_SIZE =
            ConfigOptions.key(PREFIX + "chunk-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription(
                            "Length of a chunk file, a power of two from 1 MiB to 1 GiB. An entry"
                                    + " longer than that gets a file of its own.");

    public static final ConfigOption<String> DIRECTORIES =
            ConfigOptions.key(PREFIX + "directories")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Local directories for chunk files, separated like those of"
                                    + " 'io.tmp.dirs', which they default to. Each backend makes a"
                                    + " directory of its own in them and deletes only that.");

    public static final ConfigOption<MemorySize> OFF_HEAP_SIZE =
            ConfigOptions.key(PREFIX + "off-heap.size")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Memory off the heap for the index of spilled entries and the part of"
                                    + " them that may still change, per keyed operator instance. By"
                                    + " default its share of managed memory; 128 mb if it has none.");

    public static final ConfigOption<Double> SPILL_START_RATIO =
            ConfigOptions.key(PREFIX + "spill-start.ratio")
                    .doubleType()
                    .defaultValue(0.75)
                    .withDescription(
                            "Share of the heap that is live after a collection of the old"
                                    + " generation, over which state is spilled.");

    public static final ConfigOption<Double> SPILL_END_RATIO =
            ConfigOptions.key(PREFIX + "spill-end.ratio")
                    .doubleType()
                    .defaultValue(0.60)
                    .withDescription("Share of the heap down to which state is spilled.");

    public static final ConfigOption<Double> SPILL_SIZE_RATIO =
            ConfigOptions.key(PREFIX + "spill-size.ratio")
                    .doubleType()
                    .defaultValue(0.25)
                    .withDescription(
                            "Most that one decision spills, as a share of the state on the heap.");

    public static final ConfigOption<Double> LOAD_START_RATIO =
            ConfigOptions.key(PREFIX + "load-start.ratio")
                    .doubleType()
                    .defaultValue(0.30)
                    .withDescription(
                            "Share of the heap that is live after a collection, under which spilled"
                                    + " state is loaded back.");

    public static final ConfigOption<Double> LOAD_END_RATIO =
            ConfigOptions.key(PREFIX + "load-end.ratio")
                    .doubleType()
                    .defaultValue(0.50)
                    .withDescription("Share of the heap up to which state is loaded back.");

    public static final ConfigOption<Duration> TRIGGER_INTERVAL =
            ConfigOptions.key(PREFIX + "trigger-interval")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(5))
                    .withDescription(
                            "Least time between two decisions to spill or to load, so that the"
                                    + " collector can show the effect of the first.");

    /** Meant the polling of the average pause; pressure is reported by the collector now. */
    public static final ConfigOption<String> HEAP_STATUS_CHECK_INTERVAL =
            ConfigOptions.key(PREFIX + "heap-status.check-interval")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Without effect: the collector notifies the backend. See"
                                    + " 'spill-start.ratio'.");

    /** Meant the average pause that started a spill; see {@link #SPILL_START_RATIO}. */
    public static final ConfigOption<String> GC_TIME_THRESHOLD =
            ConfigOptions.key(PREFIX + "gc-time.threshold")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Without effect: pauses say little about a modern collector. See"
                                    + " 'spill-start.ratio'.");

    /** Meant that spilling cancels checkpoints; none is cancelled any more. */
    public static final ConfigOption<String> CANCEL_CHECKPOINT =
            ConfigOptions.key(PREFIX + "cancel.checkpoint")
                    .stringType()
                    .noDefaultValue()
                    .withDescription("Without effect: spilling never cancels a checkpoint.");

    private SpillableOptions() {}

    /** What to use instead of a key that has no effect any more. */
    static String replacementOf(ConfigOption<String> option) {
        return option.equals(CANCEL_CHECKPOINT)
                ? "replaced by nothing: no checkpoint is cancelled"
                : option.equals(HEAP_STATUS_CHECK_INTERVAL)
                        ? "replaced by nothing: the collector reports the live heap"
                        : "replaced by '" + SPILL_START_RATIO.key() + "'";
    }
}
