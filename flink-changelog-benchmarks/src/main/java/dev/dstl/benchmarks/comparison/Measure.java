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

package dev.dstl.benchmarks.comparison;

import dev.dstl.benchmarks.measurement.RunResult;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/** A measure of a run: name, unit, and how it is computed from a result. Immutable. */
public final class Measure {

    private static final double ALL_CHECKPOINTS = 1;
    private static final double SLOWEST_TENTH = 0.1;

    /** Records that the sources read per second. */
    public static final Measure THROUGHPUT =
            new Measure(
                    "throughput",
                    "records/s",
                    Better.HIGHER,
                    RunValue.value(RunResult::recordsPerSecond));

    /** CPU time of the TaskManager per record. */
    public static final Measure CPU_TIME =
            new Measure(
                    "CPU time per record",
                    "us",
                    Better.LOWER,
                    RunValue.ofEach(
                            run ->
                                    run.records == 0
                                            ? OptionalDouble.empty()
                                            : OptionalDouble.of(
                                                    run.cpuSeconds * 1e6 / run.records)));

    /** Completed checkpoints per minute. */
    public static final Measure CHECKPOINTS =
            new Measure(
                    "checkpoints completed per minute",
                    "",
                    Better.HIGHER,
                    RunValue.perMinute(run -> run.checkpoints.size()));

    /** Failed checkpoints in the window. */
    public static final Measure FAILED_CHECKPOINTS =
            new Measure(
                    "checkpoints failed",
                    "",
                    Better.LOWER,
                    RunValue.value(run -> run.failedCheckpoints));

    /** Median of the checkpoint durations. */
    public static final Measure DURATION_P50 =
            new Measure("checkpoint duration p50", "ms", Better.LOWER, RunValue.duration(50));

    /** 90 % quantile of the checkpoint durations. */
    public static final Measure DURATION_P90 =
            new Measure("checkpoint duration p90", "ms", Better.LOWER, RunValue.duration(90));

    /** Longest checkpoint duration. */
    public static final Measure DURATION_MAX =
            new Measure("checkpoint duration, slowest", "ms", Better.LOWER, RunValue.duration(100));

    /** 99 % quantile of the checkpoint durations of all rounds. */
    public static final Measure DURATION_P99 =
            new Measure("checkpoint duration p99", "ms", Better.LOWER, RunValue.durationOfAll(99));

    /** 99.9 % quantile of the checkpoint durations of all rounds. */
    public static final Measure DURATION_P999 =
            new Measure(
                    "checkpoint duration p99.9", "ms", Better.LOWER, RunValue.durationOfAll(99.9));

    /** Time from the trigger to the barrier's arrival, mean over all checkpoints. */
    public static final Measure BARRIER =
            new Measure(
                    "checkpoint, mean: barrier",
                    "ms",
                    Better.LOWER,
                    RunValue.step(ALL_CHECKPOINTS, sample -> sample.barrierMillis));

    /** Duration of the synchronous part, mean over all checkpoints. */
    public static final Measure SYNCHRONOUS =
            new Measure(
                    "checkpoint, mean: synchronous part",
                    "ms",
                    Better.LOWER,
                    RunValue.step(ALL_CHECKPOINTS, sample -> sample.synchronousMillis));

    /** Duration of the asynchronous part, mean over all checkpoints. */
    public static final Measure ASYNCHRONOUS =
            new Measure(
                    "checkpoint, mean: asynchronous part",
                    "ms",
                    Better.LOWER,
                    RunValue.step(ALL_CHECKPOINTS, sample -> sample.asynchronousMillis));

    /** Duration of the acknowledgement, mean over all checkpoints. */
    public static final Measure ACKNOWLEDGEMENT =
            new Measure(
                    "checkpoint, mean: acknowledgement",
                    "ms",
                    Better.LOWER,
                    RunValue.step(ALL_CHECKPOINTS, RunValue::acknowledgementMillis));

    /** Time from the trigger to the barrier's arrival, mean over the slowest checkpoints. */
    public static final Measure SLOW_BARRIER =
            new Measure(
                    "slowest tenth: barrier",
                    "ms",
                    Better.LOWER,
                    RunValue.step(SLOWEST_TENTH, sample -> sample.barrierMillis));

    /** Duration of the synchronous part, mean over the slowest checkpoints. */
    public static final Measure SLOW_SYNCHRONOUS =
            new Measure(
                    "slowest tenth: synchronous part",
                    "ms",
                    Better.LOWER,
                    RunValue.step(SLOWEST_TENTH, sample -> sample.synchronousMillis));

    /** Duration of the asynchronous part, mean over the slowest checkpoints. */
    public static final Measure SLOW_ASYNCHRONOUS =
            new Measure(
                    "slowest tenth: asynchronous part",
                    "ms",
                    Better.LOWER,
                    RunValue.step(SLOWEST_TENTH, sample -> sample.asynchronousMillis));

    /** Duration of the acknowledgement, mean over the slowest checkpoints. */
    public static final Measure SLOW_ACKNOWLEDGEMENT =
            new Measure(
                    "slowest tenth: acknowledgement",
                    "ms",
                    Better.LOWER,
                    RunValue.step(SLOWEST_TENTH, RunValue::acknowledgementMillis));

    /** Median of the bytes a checkpoint wrote. */
    public static final Measure CHECKPOINTED_P50 =
            new Measure(
                    "checkpointed data p50",
                    "MB",
                    Better.LOWER,
                    RunValue.megabytes(50, checkpoint -> checkpoint.checkpointedBytes));

    /** 99 % quantile of the bytes a checkpoint of any round wrote. */
    public static final Measure CHECKPOINTED_P99 =
            new Measure(
                    "checkpointed data p99",
                    "MB",
                    Better.LOWER,
                    RunValue.megabytesOfAll(99, checkpoint -> checkpoint.checkpointedBytes));

    /** Median of the bytes a checkpoint refers to. */
    public static final Measure FULL_P50 =
            new Measure(
                    "full size p50",
                    "MB",
                    Better.LOWER,
                    RunValue.megabytes(50, checkpoint -> checkpoint.fullBytes));

    /** Most bytes that a checkpoint refers to. */
    public static final Measure FULL_MAX =
            new Measure(
                    "full size, largest",
                    "MB",
                    Better.LOWER,
                    RunValue.megabytes(100, checkpoint -> checkpoint.fullBytes));

    /** PUT requests per minute. */
    public static final Measure PUTS =
            new Measure("PUT per minute", "", Better.LOWER, RunValue.requests("PUT"));

    /** GET requests per minute. */
    public static final Measure GETS =
            new Measure("GET per minute", "", Better.LOWER, RunValue.requests("GET"));

    /** HEAD requests per minute. */
    public static final Measure HEADS =
            new Measure("HEAD per minute", "", Better.LOWER, RunValue.requests("HEAD"));

    /** LIST requests per minute. */
    public static final Measure LISTS =
            new Measure("LIST per minute", "", Better.LOWER, RunValue.requests("LIST"));

    /** DELETE requests per minute. */
    public static final Measure DELETES =
            new Measure("DELETE per minute", "", Better.LOWER, RunValue.requests("DELETE"));

    /** Bytes written per second. */
    public static final Measure WRITTEN =
            new Measure(
                    "written to the store",
                    "MB/s",
                    Better.LOWER,
                    RunValue.value(run -> run.traffic.bytesWritten / 1e6 / run.windowSeconds));

    /** Objects in the store at the kill. */
    public static final Measure STORED_OBJECTS =
            new Measure(
                    "objects in the store at the kill",
                    "",
                    Better.LOWER,
                    RunValue.value(r -> r.storedObjects));

    /** Bytes in the store at the kill. */
    public static final Measure STORED =
            new Measure(
                    "data in the store at the kill",
                    "MB",
                    Better.LOWER,
                    RunValue.value(run -> run.storedBytes / 1e6));

    /** Handles of the changelog per subtask, in the last checkpoint. */
    public static final Measure LOG_HANDLES =
            new Measure(
                    "changelog handles per subtask at the kill",
                    "",
                    Better.LOWER,
                    RunValue.value(run -> run.handles.logPerSubtask));

    /** All handles per subtask, in the last checkpoint. */
    public static final Measure HANDLES =
            new Measure(
                    "handles per subtask at the kill",
                    "",
                    Better.LOWER,
                    RunValue.value(r -> r.handles.perSubtask));

    /** Size of the metadata of the last checkpoint. */
    public static final Measure METADATA =
            new Measure(
                    "checkpoint metadata",
                    "KB",
                    Better.LOWER,
                    RunValue.value(r -> r.handles.metadataBytes / 1e3));

    /** From the kill to the deployment of the tasks. */
    public static final Measure REDEPLOY =
            new Measure(
                    "recovery: redeploy",
                    "ms",
                    Better.LOWER,
                    RunValue.value(r -> r.recovery.redeployMillis));

    /** From the deployment to the initialization of the tasks. */
    public static final Measure START =
            new Measure(
                    "recovery: start",
                    "ms",
                    Better.LOWER,
                    RunValue.value(r -> r.recovery.startMillis));

    /** From the initialization to the running tasks: the restore. */
    public static final Measure RESTORE =
            new Measure(
                    "recovery: restore",
                    "ms",
                    Better.LOWER,
                    RunValue.value(r -> r.recovery.restoreMillis));

    /** From the running tasks to the first record. */
    public static final Measure FIRST_RECORD =
            new Measure(
                    "recovery: first record",
                    "ms",
                    Better.LOWER,
                    RunValue.value(run -> run.recovery.firstRecordMillis));

    /** From the kill to the first record. */
    public static final Measure RECOVERY =
            new Measure(
                    "recovery: kill to first record",
                    "ms",
                    Better.LOWER,
                    RunValue.value(run -> run.recovery.totalMillis()));

    /** Bytes read from the store during recovery. */
    public static final Measure RECOVERY_READ =
            new Measure(
                    "recovery: read from the store",
                    "MB",
                    Better.LOWER,
                    RunValue.value(run -> run.recoveryTraffic.bytesRead / 1e6));

    /** Most files that the TaskManager had open. */
    public static final Measure OPEN_FILES =
            new Measure(
                    "open files, most",
                    "",
                    Better.LOWER,
                    RunValue.process(100, look -> look.openFiles, 1));

    /** Median of the heap in use. */
    public static final Measure HEAP_P50 =
            new Measure(
                    "heap p50",
                    "MB",
                    Better.LOWER,
                    RunValue.process(50, look -> look.heapBytes, 1e6));

    /** Largest heap in use. */
    public static final Measure HEAP_MAX =
            new Measure(
                    "heap, most",
                    "MB",
                    Better.LOWER,
                    RunValue.process(100, look -> look.heapBytes, 1e6));

    /** Largest resident memory of the TaskManager. */
    public static final Measure RESIDENT =
            new Measure(
                    "resident memory, most",
                    "MB",
                    Better.LOWER,
                    RunValue.process(100, look -> look.residentBytes, 1e6));

    /** CPU time of all other processes, which shows how quiet the machine was. */
    public static final Measure OTHERS =
            new Measure(
                    "other processes of the machine",
                    "processors",
                    Better.LOWER,
                    RunValue.value(run -> run.otherCpuSeconds / run.windowSeconds));

    private static final List<Measure> ALL =
            List.of(
                    THROUGHPUT,
                    CPU_TIME,
                    CHECKPOINTS,
                    FAILED_CHECKPOINTS,
                    DURATION_P50,
                    DURATION_P90,
                    DURATION_MAX,
                    DURATION_P99,
                    DURATION_P999,
                    BARRIER,
                    SYNCHRONOUS,
                    ASYNCHRONOUS,
                    ACKNOWLEDGEMENT,
                    SLOW_BARRIER,
                    SLOW_SYNCHRONOUS,
                    SLOW_ASYNCHRONOUS,
                    SLOW_ACKNOWLEDGEMENT,
                    CHECKPOINTED_P50,
                    CHECKPOINTED_P99,
                    FULL_P50,
                    FULL_MAX,
                    PUTS,
                    GETS,
                    HEADS,
                    LISTS,
                    DELETES,
                    WRITTEN,
                    STORED_OBJECTS,
                    STORED,
                    LOG_HANDLES,
                    HANDLES,
                    METADATA,
                    REDEPLOY,
                    START,
                    RESTORE,
                    FIRST_RECORD,
                    RECOVERY,
                    RECOVERY_READ,
                    OPEN_FILES,
                    HEAP_P50,
                    HEAP_MAX,
                    RESIDENT,
                    OTHERS);

    /** Which values are better. */
    public enum Better {
        /** A higher value is better. */
        HIGHER,
        /** A lower value is better. */
        LOWER
    }

    private final String title;
    private final String unit;
    private final Better better;
    private final Function<List<RunResult>, Optional<Spread>> source;

    Measure(
            String title,
            String unit,
            Better better,
            Function<List<RunResult>, Optional<Spread>> source) {
        this.title = title;
        this.unit = unit;
        this.better = better;
        this.source = source;
    }

    /** Returns all measures in the order of reports. */
    public static List<Measure> all() {
        return ALL;
    }

    /** Returns the name with the unit. */
    public String title() {
        return unit.isEmpty() ? title : title + ", " + unit;
    }

    /** Returns which values are better. */
    public Better better() {
        return better;
    }

    /**
     * Returns the values of runs with results, one for each that has the data, or one for all of
     * them together; empty if there is none.
     */
    Optional<Spread> of(List<RunResult> runs) {
        return source.apply(runs);
    }

    /** Formats a value with as many digits as are significant. */
    public static String text(double value) {
        double size = Math.abs(value);
        String format =
                size == Math.rint(size) || size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, format, value);
    }
}
