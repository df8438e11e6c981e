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

package dev.dstl.benchmarks.cost;

/** The load of each TaskManager of the job. Immutable. */
enum CostWorkload {
    MANY("24 changelogs, 30 KB/s", 24, 10, 1),
    MANY_SELDOM("24 changelogs, 30 KB/s", 24, 10, 10),
    FEW("4 changelogs, 30 KB/s", 4, 60, 1),
    FEW_SELDOM("4 changelogs, 30 KB/s", 4, 60, 10),
    /** State changes just small enough to travel inline. */
    FEW_INLINE("4 changelogs, 5 KB/s", 4, 10, 1);

    /** Number of TaskManagers of the job. */
    static final int TASK_MANAGERS = 1_000;

    /** Parallelism of each keyed operator. */
    static final int PARALLELISM = 4_000;

    /** Flink's default. */
    static final int MATERIALIZATION_SECONDS = 600;

    /** Size of key and namespace of a state change. */
    static final int RECORD_KEY_BYTES = 16;

    /** Size of a state change. */
    static final int CHANGE_BYTES = 125;

    /** Number of keys per changelog. */
    static final int KEYS = 10_000;

    private final String title;
    private final int changelogs;
    private final int changesPerSecond;
    private final int intervalSeconds;

    CostWorkload(String title, int changelogs, int changesPerSecond, int intervalSeconds) {
        this.title = title;
        this.changelogs = changelogs;
        this.changesPerSecond = changesPerSecond;
        this.intervalSeconds = intervalSeconds;
    }

    String title() {
        return title;
    }

    /** Number of changelogs on a TaskManager. */
    int changelogs() {
        return changelogs;
    }

    /** Number of state changes of a changelog per checkpoint. */
    int changesPerCheckpoint() {
        return changesPerSecond * intervalSeconds;
    }

    /** Checkpoint interval. */
    int intervalSeconds() {
        return intervalSeconds;
    }

    /** Number of checkpoints between two materializations of a changelog. */
    int checkpointsPerMaterialization() {
        return MATERIALIZATION_SECONDS / intervalSeconds;
    }

    /** Number of keyed subtasks of the job. */
    int subtasks() {
        return changelogs * TASK_MANAGERS;
    }
}
