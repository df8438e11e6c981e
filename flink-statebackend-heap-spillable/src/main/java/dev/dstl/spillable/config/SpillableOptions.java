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

    static final String PREFIX = "state.backend.spillable.";

    /** Length of a chunk file. */
    public static final ConfigOption<MemorySize> CHUNK_SIZE =
            ConfigOptions.key(PREFIX + "chunk-size")
                    .memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(64))
                    .withDescription(
                            "Length of a chunk file, a power of two from 1 MiB to 1 GiB. A"
                                    + " longer entry gets a file of its own.");

    /** Local directories for chunk files. */
    public static final ConfigOption<String> DIRECTORIES =
            ConfigOptions.key(PREFIX + "directories")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "Local directories for chunk files, separated like those of"
                                    + " 'io.tmp.dirs', which is the default. Each backend creates a"
                                    + " directory of its own in them and deletes only that.");

    /** Off-heap memory of a keyed operator instance. */
    public static final ConfigOption<MemorySize> OFF_HEAP_SIZE =
            ConfigOptions.key(PREFIX + "off-heap.size")
                    .memoryType()
                    .noDefaultValue()
                    .withDescription(
                            "Off-heap memory per keyed operator instance, for what was spilled and"
                                    + " has changed since. With less of it spilled state is written"
                                    + " to disk more often. Default: an equal part of its slot's"
                                    + " managed memory, or 128 mb if there is none.");

    /** Share of the heap in use after garbage collection above which state is spilled. */
    public static final ConfigOption<Double> SPILL_START_RATIO =
            ConfigOptions.key(PREFIX + "spill-start.ratio")
                    .doubleType()
                    .defaultValue(0.75)
                    .withDescription(
                            "State is spilled when more than this share of the heap is live"
                                    + " after a garbage collection of the old generation.");

    /** Share of the heap down to which state is spilled. */
    public static final ConfigOption<Double> SPILL_END_RATIO =
            ConfigOptions.key(PREFIX + "spill-end.ratio")
                    .doubleType()
                    .defaultValue(0.60)
                    .withDescription(
                            "Spilling stops when the live share of the heap is down to this.");

    /** Largest share of the state on the heap that one decision spills. */
    public static final ConfigOption<Double> SPILL_SIZE_RATIO =
            ConfigOptions.key(PREFIX + "spill-size.ratio")
                    .doubleType()
                    .defaultValue(0.25)
                    .withDescription(
                            "Largest share of the state on the heap that one decision"
                                    + " spills.");

    /** Share of the heap in use after garbage collection below which state is loaded back. */
    public static final ConfigOption<Double> LOAD_START_RATIO =
            ConfigOptions.key(PREFIX + "load-start.ratio")
                    .doubleType()
                    .defaultValue(0.30)
                    .withDescription(
                            "Spilled state is loaded back when less than this share of the"
                                    + " heap is live after a garbage collection.");

    /** Share of the heap up to which state is loaded back. */
    public static final ConfigOption<Double> LOAD_END_RATIO =
            ConfigOptions.key(PREFIX + "load-end.ratio")
                    .doubleType()
                    .defaultValue(0.50)
                    .withDescription(
                            "Loading stops when the live share of the heap is up to this.");

    /** Shortest time between two decisions to spill or to load. */
    public static final ConfigOption<Duration> TRIGGER_INTERVAL =
            ConfigOptions.key(PREFIX + "trigger-interval")
                    .durationType()
                    .defaultValue(Duration.ofSeconds(5))
                    .withDescription(
                            "Shortest time between two decisions to spill or to load, so"
                                    + " that a garbage collection can show the effect of the first.");

    /** Option of an earlier preview; has no effect. */
    public static final ConfigOption<String> HEAP_STATUS_CHECK_INTERVAL =
            ConfigOptions.key(PREFIX + "heap-status.check-interval")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "No effect: the garbage collector notifies the backend. See"
                                    + " 'spill-start.ratio'.");

    /** Option of an earlier preview; has no effect. */
    public static final ConfigOption<String> GC_TIME_THRESHOLD =
            ConfigOptions.key(PREFIX + "gc-time.threshold")
                    .stringType()
                    .noDefaultValue()
                    .withDescription(
                            "No effect: pauses of a modern garbage collector say little"
                                    + " about the heap. See 'spill-start.ratio'.");

    /** Option of an earlier preview; has no effect. */
    public static final ConfigOption<String> CANCEL_CHECKPOINT =
            ConfigOptions.key(PREFIX + "cancel.checkpoint")
                    .stringType()
                    .noDefaultValue()
                    .withDescription("No effect: spilling never cancels a checkpoint.");

    private SpillableOptions() {}

    /** What to use instead of a key that has no effect any more. */
    static String replacementOf(ConfigOption<String> option) {
        return option.equals(CANCEL_CHECKPOINT)
                ? "replaced by nothing: no checkpoint is cancelled"
                : option.equals(HEAP_STATUS_CHECK_INTERVAL)
                        ? "replaced by nothing: the garbage collector reports the live heap"
                        : "replaced by '" + SPILL_START_RATIO.key() + "'";
    }
}
