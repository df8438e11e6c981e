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

package dev.dstl.log.simulation.cluster;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A checkpoint that all tasks acknowledged. Immutable. */
public final class CompletedCheckpoint {

    private final long id;
    private final SimulatedJob job;
    private final long triggeredMillis;
    private final long completedMillis;
    private final List<TaskSnapshot> snapshots;
    private final Map<String, Long> fileSizes = new TreeMap<>();

    CompletedCheckpoint(
            SimulatedJob job,
            long id,
            long triggeredMillis,
            long completedMillis,
            Collection<TaskSnapshot> snapshots) {
        this.job = job;
        this.triggeredMillis = triggeredMillis;
        this.completedMillis = completedMillis;
        this.id = id;
        this.snapshots = new ArrayList<>(snapshots);
        for (TaskSnapshot snapshot : snapshots) {
            snapshot.log().forEach(part -> fileSizes.putAll(part.fileSizes()));
        }
    }

    public long id() {
        return id;
    }

    public SimulatedJob job() {
        return job;
    }

    public long triggeredMillis() {
        return triggeredMillis;
    }

    /** From the trigger to the last acknowledgement. */
    public long durationMillis() {
        return completedMillis - triggeredMillis;
    }

    public List<TaskSnapshot> snapshots() {
        return snapshots;
    }

    /** Every segment that is needed to restore from it. */
    public Set<String> files() {
        return fileSizes.keySet();
    }

    /** Bytes of each of them. */
    public Map<String, Long> fileSizes() {
        return fileSizes;
    }
}
