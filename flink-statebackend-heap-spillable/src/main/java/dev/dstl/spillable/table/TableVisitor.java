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

import dev.dstl.spillable.layout.MapLayout;
import dev.dstl.spillable.layout.SpilledLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState.StateIncrementalVisitor;

/**
 * Walks a table in small steps while it changes, for the clean-up of expired entries. Task thread
 * only. Large maps are given a slice at a time, as maps of their own. An entry that moves while its
 * table splits or its key group spills may be met twice or not at all in one walk.
 */
final class TableVisitor<K, N, S> implements StateIncrementalVisitor<K, N, S> {

    private static final int MOST_LOOKS = 16;

    private final KeyGroups<K, N, S> groups;
    private final ExpiredUserEntries<K, N, S> expired;
    private final int recommendedEntries;

    private int position;
    private long cursor;
    private List<StateEntry<K, N, Void>> found = new ArrayList<>();
    private int given;
    private KeyGroupMap<K, N, S> foundIn;
    private KeyGroupMap<K, N, S> givenFrom;
    @Nullable private LargeMapVisit<K, N, S> largeMap;

    TableVisitor(KeyGroups<K, N, S> groups, CurrentKey<K> currentKey, int recommendedEntries) {
        this.groups = groups;
        this.expired = new ExpiredUserEntries<>(groups, currentKey);
        this.recommendedEntries = recommendedEntries;
    }

    /** Whether there is something left to look at, which need not be an entry. */
    @Override
    public boolean hasNext() {
        if (expired.areWaiting() || largeMap != null || given < found.size()) {
            return true;
        }
        while (position < groups.count() && (cursor < 0 || groups.at(position).size() == 0)) {
            position++;
            cursor = 0;
        }
        return position < groups.count();
    }

    /** Looks for keys, not for too long: most of what is spilled may be parts of a large map. */
    private void findSome() {
        for (int i = 0; i < MOST_LOOKS && given >= found.size() && hasNext(); i++) {
            find(groups.at(position));
        }
    }

    private void find(KeyGroupMap<K, N, S> group) {
        List<StateEntry<K, N, Void>> keys = new ArrayList<>();
        try {
            cursor =
                    group.keysFrom(
                            cursor,
                            Math.max(1, recommendedEntries),
                            groups.layout(),
                            (key, namespace) ->
                                    keys.add(
                                            new StateEntry.SimpleStateEntry<>(
                                                    key, namespace, null)));
        } catch (IOException e) {
            throw groups.unreadable(e);
        }
        found = keys;
        given = 0;
        foundIn = group;
    }

    @Override
    public Collection<StateEntry<K, N, S>> nextEntries() {
        List<StateEntry<K, N, S>> entries = new ArrayList<>();
        if (!expired.removeWaiting()) {
            return entries;
        }
        if (largeMap == null) {
            findSome();
        }
        givenFrom = foundIn;
        if (largeMap != null) {
            return nextSlice();
        }
        int end = Math.min(found.size(), given + Math.max(1, recommendedEntries));
        while (given < end) {
            StateEntry<K, N, Void> entry = found.get(given);
            LargeMapVisit<K, N, S> visit =
                    LargeMapVisit.start(
                            groups, foundIn, expired, entry.getKey(), entry.getNamespace());
            if (visit != null && !entries.isEmpty()) {
                return entries;
            }
            given++;
            if (visit != null) {
                largeMap = visit;
                return nextSlice();
            }
            S state = groups.peek(foundIn, entry.getKey(), entry.getNamespace());
            if (state != null) {
                entries.add(
                        new StateEntry.SimpleStateEntry<>(
                                entry.getKey(), entry.getNamespace(), state));
            }
        }
        return entries;
    }

    private Collection<StateEntry<K, N, S>> nextSlice() {
        S slice = largeMap.next();
        if (slice == null) {
            largeMap = null;
            return Collections.emptyList();
        }
        return Collections.singletonList(
                new StateEntry.SimpleStateEntry<>(largeMap.key(), largeMap.namespace(), slice));
    }

    @Override
    public void remove(StateEntry<K, N, S> entry) {
        if (largeMap != null) {
            largeMap.removeFromSlice(Collections.emptyMap());
        } else if (isMap()
                && expired.mayBeIteratedOver(givenFrom, entry.getKey(), entry.getNamespace())) {
            removeUserEntries(entry, Collections.emptyMap());
        } else {
            groups.remove(givenFrom, entry.getKey(), entry.getNamespace(), SpilledLayout.NO_EPOCH);
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>A map only loses the user entries that the new one has not: Flink's clean-up gives back a
     * copy of each map it visits, even if nothing of it has expired.
     */
    @Override
    public void update(StateEntry<K, N, S> entry, S newValue) {
        if (largeMap != null) {
            largeMap.removeFromSlice((Map<?, ?>) newValue);
        } else if (isMap()) {
            removeUserEntries(entry, (Map<?, ?>) newValue);
        } else {
            groups.put(
                    givenFrom,
                    entry.getKey(),
                    entry.getNamespace(),
                    newValue,
                    SpilledLayout.NO_EPOCH);
        }
    }

    private boolean isMap() {
        return groups.layout() instanceof MapLayout;
    }

    private void removeUserEntries(StateEntry<K, N, S> entry, Map<?, ?> kept) {
        Map<?, ?> state = (Map<?, ?>) entry.getState();
        if (state.size() == kept.size()) {
            return;
        }
        Map<Object, Object> missing = new HashMap<>(state);
        missing.keySet().removeAll(kept.keySet());
        expired.remove(givenFrom, entry.getKey(), entry.getNamespace(), missing);
    }
}
