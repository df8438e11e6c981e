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

package dev.dstl.spillable.table;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;

/**
 * Walks a table in small steps while it changes, for the clean-up of expired entries. Task thread
 * only. An entry that moves while its table splits may be met twice or not at all in one walk.
 */
final class TableVisitor<K, N, S> implements StateIncrementalVisitor<K, N, S> {

    private final StateTable<K, N, S> table;
    private final int recommendedEntries;

    private int position;
    private int cursor;
    private List<StateEntry<K, N, S>> found = Collections.emptyList();
    private int given;
    private KeyGroupMap<K, N, S> foundIn;
    private KeyGroupMap<K, N, S> givenFrom;

    TableVisitor(StateTable<K, N, S> table, int recommendedEntries) {
        this.table = table;
        this.recommendedEntries = recommendedEntries;
    }

    @Override
    public boolean hasNext() {
        while (given >= found.size()) {
            if (position >= table.groupCount()) {
                return false;
            }
            KeyGroupMap<K, N, S> group = table.groupAt(position);
            if (group.size() == 0 || cursor >= group.cursorEnd()) {
                position++;
                cursor = 0;
                continue;
            }
            found = new ArrayList<>();
            given = 0;
            foundIn = group;
            group.entriesAt(cursor++, found);
        }
        return true;
    }

    @Override
    public Collection<StateEntry<K, N, S>> nextEntries() {
        if (!hasNext()) {
            return new ArrayList<>();
        }
        int end = Math.min(found.size(), given + Math.max(1, recommendedEntries));
        List<StateEntry<K, N, S>> entries = new ArrayList<>(end - given);
        for (StateEntry<K, N, S> entry : found.subList(given, end)) {
            S state = foundIn.get(entry.getKey(), entry.getNamespace());
            if (state != null) {
                entries.add(
                        new StateEntry.SimpleStateEntry<>(
                                entry.getKey(), entry.getNamespace(), state));
            }
        }
        given = end;
        givenFrom = foundIn;
        return entries;
    }

    @Override
    public void remove(StateEntry<K, N, S> entry) {
        givenFrom.remove(entry.getKey(), entry.getNamespace());
    }

    @Override
    public void update(StateEntry<K, N, S> entry, S newValue) {
        givenFrom.put(entry.getKey(), entry.getNamespace(), newValue);
    }
}
