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

package dev.dstl.changelog.materialization;

import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;

/** The handles of a base, in one place. Immutable. */
public final class StateParts {

    /** No state. */
    public static final StateParts EMPTY = new StateParts(List.of(), List.of());

    private final List<KeyedStateHandle> snapshots;
    private final List<ChangelogStateHandle> logs;

    /**
     * @param snapshots of the delegate; several after a change of parallelism
     * @param logs restored, to be replayed on top in this order
     */
    public StateParts(
            List<? extends KeyedStateHandle> snapshots, List<? extends ChangelogStateHandle> logs) {
        this.snapshots = List.copyOf(snapshots);
        this.logs = List.copyOf(logs);
    }

    /** A snapshot that covers all logs; null if the delegate was empty. */
    public static StateParts ofSnapshot(@Nullable KeyedStateHandle snapshot) {
        return snapshot == null ? EMPTY : new StateParts(List.of(snapshot), List.of());
    }

    /** Snapshots of the delegate. */
    public List<KeyedStateHandle> snapshots() {
        return snapshots;
    }

    /** Restored logs on top of the snapshots. */
    public List<ChangelogStateHandle> logs() {
        return logs;
    }

    /** Whether there is nothing here. */
    public boolean isEmpty() {
        return snapshots.isEmpty() && logs.isEmpty();
    }

    @Override
    public String toString() {
        return snapshots.size() + " snapshots and " + logs.size() + " restored logs";
    }
}
