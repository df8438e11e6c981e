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

import dev.dstl.changelog.differential.job.JobShape;
import java.util.List;
import org.apache.flink.runtime.checkpoint.StateAssignmentOperation;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Settings of a job until it is submitted again or rescaled. Immutable. */
public final class Deployment {

    private final int generation;
    private final int parallelism;
    private final Storage storage;
    private final boolean changelog;

    /**
     * @param generation of the classes of the job
     * @param changelog whether it is switched on
     */
    public Deployment(int generation, int parallelism, Storage storage, boolean changelog) {
        this.generation = generation;
        this.parallelism = parallelism;
        this.storage = storage;
        this.changelog = changelog;
    }

    public int generation() {
        return generation;
    }

    public int parallelism() {
        return parallelism;
    }

    public Storage storage() {
        return storage;
    }

    public boolean changelog() {
        return changelog;
    }

    public Deployment withParallelism(int newParallelism) {
        return new Deployment(generation, newParallelism, storage, changelog);
    }

    public Deployment withGeneration(int newGeneration) {
        return new Deployment(newGeneration, parallelism, storage, changelog);
    }

    List<KeyGroupRange> keyGroups() {
        return StateAssignmentOperation.createKeyGroupPartitions(JobShape.KEY_GROUPS, parallelism);
    }

    @Override
    public String toString() {
        return String.format(
                "generation %d x %d on %s %s changelog",
                generation, parallelism, storage, changelog ? "with" : "without");
    }
}
