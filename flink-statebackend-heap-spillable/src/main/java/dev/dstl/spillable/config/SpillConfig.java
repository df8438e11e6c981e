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

import java.io.File;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checked values of {@link SpillableOptions}. Immutable. Serializable because it is part of the
 * jobs that high availability stored before 0.1.0.
 */
public final class SpillConfig implements Serializable {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG = LoggerFactory.getLogger(SpillConfig.class);

    private static final long MIN_CHUNK_BYTES = 1 << 20;
    private static final long MAX_CHUNK_BYTES = 1 << 30;
    private static final long DEFAULT_OFF_HEAP_BYTES = 128L << 20;
    private static final long MIN_OFF_HEAP_BYTES = 1L << 20;
    private static final Pattern SEPARATOR = Pattern.compile(",|" + File.pathSeparator);

    private final int chunkBytes;
    private final long offHeapBytes;
    private final ArrayList<String> directories;
    private final double spillStartRatio;
    private final double spillEndRatio;
    private final double spillSizeRatio;
    private final double loadStartRatio;
    private final double loadEndRatio;
    private final long triggerIntervalMillis;
    private final boolean incrementalCheckpoints;

    private SpillConfig(ReadableConfig config) {
        this.chunkBytes = chunkBytes(config.get(SpillableOptions.CHUNK_SIZE));
        this.offHeapBytes =
                config.getOptional(SpillableOptions.OFF_HEAP_SIZE)
                        .map(SpillConfig::offHeapBytes)
                        .orElse(0L);
        this.directories = new ArrayList<>();
        config.getOptional(SpillableOptions.DIRECTORIES)
                .ifPresent(
                        paths ->
                                SEPARATOR
                                        .splitAsStream(paths)
                                        .map(String::trim)
                                        .filter(path -> !path.isEmpty())
                                        .forEach(directories::add));
        this.spillStartRatio = ratio(config, SpillableOptions.SPILL_START_RATIO);
        this.spillEndRatio = ratio(config, SpillableOptions.SPILL_END_RATIO);
        this.spillSizeRatio = ratio(config, SpillableOptions.SPILL_SIZE_RATIO);
        this.loadStartRatio = ratio(config, SpillableOptions.LOAD_START_RATIO);
        this.loadEndRatio = ratio(config, SpillableOptions.LOAD_END_RATIO);
        this.triggerIntervalMillis = config.get(SpillableOptions.TRIGGER_INTERVAL).toMillis();
        this.incrementalCheckpoints = config.get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS);
        checkOrder();
        warnOfKeysWithoutEffect(config);
    }

    /**
     * Reads and checks the options; warns of those that have no effect.
     *
     * @throws IllegalConfigurationException naming key, value and fix, if a value is out of bounds,
     *     or no option has the key
     */
    public static SpillConfig of(ReadableConfig config) {
        SpillableKeys.check(config);
        return new SpillConfig(config);
    }

    /** What holds if nothing is configured. */
    public static SpillConfig defaults() {
        return new SpillConfig(new Configuration());
    }

    private static int chunkBytes(MemorySize size) {
        long bytes = size.getBytes();
        if (bytes < MIN_CHUNK_BYTES || bytes > MAX_CHUNK_BYTES || Long.bitCount(bytes) != 1) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %d bytes; it must be a power of two from %d (1 mb) to %d"
                                    + " (1 gb). Use for example '64 mb'.",
                            SpillableOptions.CHUNK_SIZE.key(),
                            bytes,
                            MIN_CHUNK_BYTES,
                            MAX_CHUNK_BYTES));
        }
        return (int) bytes;
    }

    private static long offHeapBytes(MemorySize size) {
        if (size.getBytes() < MIN_OFF_HEAP_BYTES) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %d bytes; it must be at least %d (1 mb). Use for example"
                                    + " '256 mb', or leave it out to use managed memory.",
                            SpillableOptions.OFF_HEAP_SIZE.key(),
                            size.getBytes(),
                            MIN_OFF_HEAP_BYTES));
        }
        return size.getBytes();
    }

    private static double ratio(ReadableConfig config, ConfigOption<Double> option) {
        double ratio = config.get(option);
        if (!(ratio > 0 && ratio < 1)) {
            throw new IllegalConfigurationException(
                    String.format(
                            "'%s' is %s; it must lie between 0 and 1, both exclusive. The default"
                                    + " is %s.",
                            option.key(), ratio, option.defaultValue()));
        }
        return ratio;
    }

    private void checkOrder() {
        if (!(loadStartRatio < loadEndRatio
                && loadEndRatio < spillEndRatio
                && spillEndRatio < spillStartRatio)) {
            throw new IllegalConfigurationException(
                    String.format(
                            "The ratios are out of order: '%s' (%s) < '%s' (%s) < '%s' (%s) < '%s'"
                                    + " (%s) must hold, or state would be spilled and loaded in turns.",
                            SpillableOptions.LOAD_START_RATIO.key(),
                            loadStartRatio,
                            SpillableOptions.LOAD_END_RATIO.key(),
                            loadEndRatio,
                            SpillableOptions.SPILL_END_RATIO.key(),
                            spillEndRatio,
                            SpillableOptions.SPILL_START_RATIO.key(),
                            spillStartRatio));
        }
    }

    private static void warnOfKeysWithoutEffect(ReadableConfig config) {
        List<String> replaced = new ArrayList<>();
        for (ConfigOption<String> option :
                Arrays.asList(
                        SpillableOptions.HEAP_STATUS_CHECK_INTERVAL,
                        SpillableOptions.GC_TIME_THRESHOLD,
                        SpillableOptions.CANCEL_CHECKPOINT)) {
            if (config.getOptional(option).isPresent()) {
                replaced.add(
                        String.format(
                                "'%s' (%s)", option.key(), SpillableOptions.replacementOf(option)));
            }
        }
        if (!replaced.isEmpty()) {
            LOG.warn(
                    "Without effect, to be removed from the configuration: {}.",
                    String.join(", ", replaced));
        }
    }

    /** Length of a chunk file in bytes; a power of two from 1 MiB to 1 GiB. */
    public int chunkBytes() {
        return chunkBytes;
    }

    /** Off-heap memory of a backend in bytes, at least 1 MiB; 0 if managed memory is to be used. */
    public long offHeapBytes() {
        return offHeapBytes;
    }

    /** Least off-heap memory in bytes that a backend can work with. */
    public long minOffHeapBytes() {
        return MIN_OFF_HEAP_BYTES;
    }

    /** Off-heap memory in bytes of a backend that has no managed memory. */
    public long defaultOffHeapBytes() {
        return DEFAULT_OFF_HEAP_BYTES;
    }

    /** Directories to spill to; empty for Flink's own local directories. */
    public List<String> directories() {
        return Collections.unmodifiableList(directories);
    }

    /** Live share of the heap above which state is spilled, between 0 and 1. */
    public double spillStartRatio() {
        return spillStartRatio;
    }

    /** Live share of the heap down to which state is spilled; below the one that starts it. */
    public double spillEndRatio() {
        return spillEndRatio;
    }

    /** Largest share of the state on the heap that one decision spills, between 0 and 1. */
    public double spillSizeRatio() {
        return spillSizeRatio;
    }

    /** Live share of the heap below which state is loaded back; the least of the four. */
    public double loadStartRatio() {
        return loadStartRatio;
    }

    /** Live share of the heap up to which state is loaded back; below where spilling ends. */
    public double loadEndRatio() {
        return loadEndRatio;
    }

    /** Whether checkpoints share files with earlier ones. */
    public boolean incrementalCheckpoints() {
        return incrementalCheckpoints;
    }

    /** Shortest time between two decisions, in milliseconds. */
    public long triggerIntervalMillis() {
        return triggerIntervalMillis;
    }
}
