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

package dev.dstl.changelog.differential.world;

/** Conditions that random jobs must reach; jobs without them prove nothing. */
public enum Coverage {
    COMPLETED_CHECKPOINTS,
    FULL_CHECKPOINTS,
    OVERTAKEN_CHECKPOINTS,
    ABORTED_CHECKPOINTS,
    LATE_ACKNOWLEDGEMENTS,
    /** Late ones of bases whose files were deleted when a later checkpoint completed. */
    LATE_ACKNOWLEDGEMENTS_OF_DELETED_FILES,
    LOST_NOTIFICATIONS,
    MATERIALIZATIONS,
    FAILED_MATERIALIZATIONS,
    REPEATED_MATERIALIZATIONS,
    FAILOVERS,
    LOCAL_RESTORES,
    /** Several operators of a subtask restored from local state. */
    CHAINED_OPERATORS_WITH_LOCAL_RECOVERY,
    SCALED_OUT,
    SCALED_IN,
    CLAIMED,
    NOT_CLAIMED,
    CLAIMED_AS_IN_OLD_FLINK,
    RETAINED_CHECKPOINTS_RESTORED,
    CANONICAL_SAVEPOINTS_RESTORED,
    NATIVE_SAVEPOINTS_RESTORED,
    CHANGELOG_SWITCHED_ON,
    CHANGELOG_SWITCHED_OFF,
    DELEGATES_CHANGED,
    UPGRADES,
    DOWNGRADES,
    REFUSED_BY_BOTH,
    FAILED_OPERATIONS,
    BAD_VALUES,
    CHECKPOINTS_OF_INCOMPLETE_LOGS,
    MERGED_NAMESPACES,
    /** A restored value, which has expired since it was written, reads as nothing. */
    EXPIRED_STATE,
    REPEATED_TIMERS,
    FIRED_TIMERS,
    /** A subtask restores a state of which it gets values of several generations. */
    SEVERAL_VERSIONS_RESTORED,
    REORDERED_CONSTANTS_RESTORED,
    /** Several changes of a value, each by a key that was written differently. */
    EQUAL_KEYS_WITH_OTHER_BYTES,
    /** A subtask restores a state of which others have written values of different classes. */
    SUBTASKS_WITH_DIFFERENT_CLASSES
}
