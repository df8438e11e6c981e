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

package dev.dstl.log.simulation.world;

/**
 * A fault or an environment that the changelog storage must tolerate. Each seed has some of them,
 * so that those that cause a failure can be isolated.
 */
public enum Condition {
    /** All processes share one link, and concurrent transfers share its capacity. */
    SHARED_LINK(30),

    /** Every request takes longer than {@code upload.timeout}, always. */
    SLOW_STORE(10),

    /** The store refuses requests above a rate. */
    REQUEST_LIMIT(15),

    /** Transfers between processes and store stop for some seconds. */
    STALLS(30),

    /** Writes that never end unless they are interrupted or closed. */
    ETERNAL_WRITES(35),

    /** A few writes that neither an interrupt nor closing ends. */
    DEAF_WRITES(10),

    /** Reads of a process that fail. */
    FAILING_READS(25),

    /** Reads of a process that never end unless they are interrupted. */
    ETERNAL_READS(25),

    /** The operating system sometimes cannot start a thread. */
    THREAD_STARTS_FAIL(20),

    /** Threads start late. */
    THREAD_STARTS_LATE(25),

    /** The store fails while a process opens the changelog of a job. */
    STORE_DOWN_AT_START(20),

    /** Processes run tasks of more than one job. */
    SEVERAL_JOBS(25),

    /** Segments are copied to a local disk that the processes of a host share. */
    LOCAL_COPIES(25),

    /** Files on local disks are lost, truncated or corrupted. */
    DAMAGED_DISKS(15),

    /** Acknowledgements and aborts of checkpoints arrive late. */
    LATE_MESSAGES(30),

    /** Small checkpoints at short intervals, several at a time, with short materializations. */
    OVERLAPPING_CHECKPOINTS(20),

    /** Tasks that have no input for a while. */
    IDLE_TASKS(25),

    /** Hardly any materialization. */
    LONG_LOGS(25),

    /** The job has the same load for a while after all faults have ended. */
    STEADY_LOAD(35),

    /**
     * Compaction reads in memory what the process wrote recently, as it does unless memory is
     * short.
     */
    RECENT_SEGMENTS(40, 1),

    /** A close that is interrupted returns as after a success, and the file may be stored later. */
    INTERRUPTED_CLOSES_RETURN(30, 2);

    private final int percent;
    private final int dice;

    Condition(int percent) {
        this(percent, 0);
    }

    Condition(int percent, int dice) {
        this.percent = percent;
        this.dice = dice;
    }

    /** Percentage of seeds with this condition. */
    public int percent() {
        return percent;
    }

    /**
     * The dice that draw it, 0 for those that draw everything else. With others, seeds that were
     * known before the condition existed stay what they were.
     */
    int dice() {
        return dice;
    }
}
