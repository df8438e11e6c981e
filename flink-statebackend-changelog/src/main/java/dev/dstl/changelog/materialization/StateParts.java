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

/** The handles of a base. Immutable. */
public final class StateParts {

    /** A base without state. */
    public static final StateParts EMPTY = new StateParts(List.of(), List.of());

    private final List<KeyedStateHandle> snapshots;
    private final List<ChangelogStateHandle> logs;

    /**
     * Creates a base.
     *
     * @param snapshots snapshots of the delegate; several after rescaling
     * @param logs restored changelogs, replayed on top in this order
     */
    public StateParts(
            List<? extends KeyedStateHandle> snapshots, List<? extends ChangelogStateHandle> logs) {
        this.snapshots = List.copyOf(snapshots);
        this.logs = List.copyOf(logs);
    }

    /**
     * Creates a base of one snapshot that covers all changelogs; null if the delegate was empty.
     */
    public static StateParts ofSnapshot(@Nullable KeyedStateHandle snapshot) {
        return snapshot == null ? EMPTY : new StateParts(List.of(snapshot), List.of());
    }

    /** Returns the snapshots of the delegate. */
    public List<KeyedStateHandle> snapshots() {
        return snapshots;
    }

    /** Returns the restored changelogs on top of the snapshots. */
    public List<ChangelogStateHandle> logs() {
        return logs;
    }

    /** Returns whether there are no handles. */
    public boolean isEmpty() {
        return snapshots.isEmpty() && logs.isEmpty();
    }

    @Override
    public String toString() {
        return snapshots.size() + " snapshots and " + logs.size() + " restored changelogs";
    }
}
