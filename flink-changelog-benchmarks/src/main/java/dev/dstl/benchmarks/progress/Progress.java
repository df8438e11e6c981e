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

package dev.dstl.benchmarks.progress;

import dev.dstl.benchmarks.progress.ProgressSlot.Reading;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Progress of a job: the position in its input, and when its tasks processed records again after a
 * restart.
 */
public final class Progress {

    private final List<Reading> sources;
    private final List<Reading> keyed;

    Progress(List<Reading> sources, List<Reading> keyed) {
        this.sources = sources;
        this.keyed = keyed;
    }

    /**
     * Returns the number of records read since the start of the input; records that were read twice
     * count once.
     */
    public long records() {
        return sources.stream().mapToLong(slot -> slot.records).sum();
    }

    /** Returns the fraction of the input that was read, in [0, 1]. */
    public double fraction() {
        return sources.stream().mapToDouble(slot -> slot.fraction).average().orElse(0);
    }

    /** Returns the fraction of the input that the slowest source has read, in [0, 1]. */
    public double slowestFraction() {
        return sources.stream().mapToDouble(slot -> slot.fraction).min().orElse(0);
    }

    /**
     * Returns since when all tasks process records again in attempts that started after a given
     * time: all sources and keyed tasks have started since then, and every keyed task has received
     * a record.
     *
     * @param sinceMillis exclusive
     * @return when the last of them got its first record, milliseconds since the epoch
     */
    public OptionalLong worksAgainAtMillis(long sinceMillis) {
        boolean works =
                sources.stream().allMatch(slot -> slot.openedAtMillis > sinceMillis)
                        && keyed.stream()
                                .allMatch(
                                        slot ->
                                                slot.openedAtMillis > sinceMillis
                                                        && slot.firstRecordAtMillis > 0);
        return works
                ? keyed.stream().mapToLong(slot -> slot.firstRecordAtMillis).max()
                : OptionalLong.empty();
    }

    /** Returns when the first source reached the part of the input that is not rate-limited. */
    public OptionalLong sprintStartedAtMillis() {
        return sources.stream()
                .mapToLong(slot -> slot.sprintStartedAtMillis)
                .filter(millis -> millis > 0)
                .min();
    }

    /**
     * Returns the records per second in the part of the input that was not rate-limited; empty
     * before its end, and if it took less than {@code minMillis}.
     */
    public OptionalDouble sprintRecordsPerSecond(long minMillis) {
        boolean complete =
                !sources.isEmpty()
                        && sources.stream()
                                .allMatch(
                                        slot ->
                                                slot.sprintStartedAtMillis > 0
                                                        && slot.endedAtMillis > 0);
        if (!complete) {
            return OptionalDouble.empty();
        }
        long start = sprintStartedAtMillis().orElse(0);
        long end = sources.stream().mapToLong(slot -> slot.endedAtMillis).max().orElse(0);
        if (end - start < minMillis) {
            return OptionalDouble.empty();
        }
        long count =
                sources.stream().mapToLong(slot -> slot.records - slot.recordsBeforeSprint).sum();
        return OptionalDouble.of(count * 1000.0 / Math.max(1, end - start));
    }
}
