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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.world.ChangelogJob;
import dev.dstl.changelog.differential.world.Conditions;
import dev.dstl.changelog.differential.world.Coverage;
import dev.dstl.changelog.differential.world.Deployment;
import dev.dstl.changelog.differential.world.PlainJob;
import dev.dstl.changelog.differential.world.Violation;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.RestoreMode;

/**
 * State whose classes have become incompatible. DSTL must refuse it as the plain backend does, with
 * one exception, in which no data is incompatible: Flink also refuses a state that was accessed but
 * has no entry for any key, which a changelog need not contain. DSTL must then find what a plain
 * backend finds whose states all have entries.
 */
final class Refusals {

    private static final int ALL = -1;

    /** Id of a checkpoint that is never restored. */
    private static final long TRIAL = -1;

    private final PlainJob plain;
    private final ChangelogJob changelog;
    private final Supplier<PlainJob> another;
    private final Conditions conditions;

    /**
     * @param another makes one more job on the plain backend
     */
    Refusals(
            PlainJob plain,
            ChangelogJob changelog,
            Supplier<PlainJob> another,
            Conditions conditions) {
        this.plain = plain;
        this.changelog = changelog;
        this.another = another;
        this.conditions = conditions;
    }

    /**
     * Whether the plain backend refuses a checkpoint in another deployment, or cannot take the next
     * one, as on the heap with Avro's generic records, which stay as they were written, even if
     * they have expired, until they are read.
     */
    boolean refuses(Deployment next, long id) {
        try {
            plain.start(next, id);
            plain.checkpoint(TRIAL, false);
            readAll(plain.subtasks());
            plain.checkpoint(TRIAL, false);
            return false;
        } catch (Exception e) {
            return true;
        }
    }

    /**
     * Submits the job on our backend, which is to refuse what the plain one refuses; the job has
     * ended afterwards.
     *
     * @param before the last deployment
     * @param mixed whether our job may have states in an earlier version than the plain one, which
     *     are compatible although those of the plain one are not
     */
    void compare(
            Deployment before,
            Deployment next,
            boolean mixed,
            long id,
            String pointer,
            RestoreMode claimMode)
            throws Exception {
        boolean refused = false;
        try {
            changelog.submit(next, pointer, claimMode);
            readAll(changelog.subtasks());
        } catch (Exception e) {
            refused = true;
        }
        if (refused) {
            conditions.met(Coverage.REFUSED_BY_BOTH);
        } else if (!mixed) {
            compareWithContents(before, next, id);
        }
        changelog.end(JobStatus.CANCELED);
    }

    private void compareWithContents(Deployment before, Deployment next, long id) throws Exception {
        Deployment readable = next.withGeneration(before.generation());
        try (PlainJob filled = another.get()) {
            plain.start(readable, id);
            filled.startWithoutStates(readable);
            plain.copyTo(filled);
            filled.checkpoint(id, false);
            try {
                filled.start(next, id);
                readAll(filled.subtasks());
            } catch (Exception e) {
                throw new Violation("Only the plain backend refuses " + next, e);
            }
            if (canBeWritten(filled)) {
                Contents.compare(filled.subtasks(), changelog.subtasks(), ALL);
            }
        }
    }

    /** Whether all values can be written; otherwise spilling fails too, at any time. */
    private static boolean canBeWritten(PlainJob job) {
        try {
            job.checkpoint(TRIAL, false);
            return true;
        } catch (Exception e) {
            return false;
        }
    }

    private static void readAll(List<List<KeyedOperator>> subtasks) throws Exception {
        for (List<KeyedOperator> operators : subtasks) {
            for (KeyedOperator operator : operators) {
                operator.contents(ALL);
            }
        }
    }
}
