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

package dev.dstl.changelog.state;

import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import javax.annotation.Nullable;

/**
 * Iterates over the map of one key and namespace; removals and updates through it are logged. Used
 * by the task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <UK> type of the map's keys
 * @param <UV> type of the map's values
 * @param <T> what the caller sees of an entry
 */
final class LoggedMapIterator<K, N, UK, UV, T> implements Iterator<T> {

    private final LoggedMapState<K, N, UK, UV> state;
    @Nullable private final K key;
    private final int keyGroup;
    @Nullable private final N namespace;
    private final Iterator<Map.Entry<UK, UV>> entries;
    private final Function<Map.Entry<UK, UV>, T> view;
    @Nullable private Map.Entry<UK, UV> current;

    /** The map's number of invalidations when it was found, plus removals by this iterator. */
    private long invalidations;

    LoggedMapIterator(
            LoggedMapState<K, N, UK, UV> state,
            @Nullable K key,
            int keyGroup,
            @Nullable N namespace,
            Iterator<Map.Entry<UK, UV>> entries,
            long invalidations,
            Function<Map.Entry<UK, UV>, T> view) {
        this.state = state;
        this.key = key;
        this.keyGroup = keyGroup;
        this.namespace = namespace;
        this.entries = entries;
        this.view = view;
        this.invalidations = invalidations;
    }

    @Override
    public boolean hasNext() {
        return entries.hasNext();
    }

    /** Returns null after the last entry if the delegate does so instead of throwing. */
    @Override
    public T next() {
        current = entries.next();
        return current == null ? null : view.apply(new LoggedEntry(current, invalidations));
    }

    @Override
    public void remove() {
        if (current == null) {
            throw new IllegalStateException("remove() needs a next() before it");
        }
        UK mapKey = current.getKey();
        try {
            state.beginEntry(key, namespace, mapKey);
            removeFromDelegate(mapKey);
            if (state.invalidations() == invalidations) {
                state.log().append(RecordKind.DELETE, keyGroup);
            } else {
                // the removed entry may no longer belong to the map
                state.logStored(key, keyGroup, namespace, mapKey);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot record a removal: " + state.log(), e);
        }
        state.removed();
        invalidations++;
    }

    private void removeFromDelegate(UK mapKey) {
        try {
            entries.remove();
        } catch (Throwable t) {
            state.logStored(key, keyGroup, namespace, mapKey);
            throw t;
        }
    }

    private final class LoggedEntry implements Map.Entry<UK, UV> {

        private final Map.Entry<UK, UV> entry;
        private final long invalidationsBefore;

        private LoggedEntry(Map.Entry<UK, UV> entry, long invalidationsBefore) {
            this.entry = entry;
            this.invalidationsBefore = invalidationsBefore;
        }

        @Override
        public UK getKey() {
            return entry.getKey();
        }

        @Override
        public UV getValue() {
            return entry.getValue();
        }

        @Override
        public UV setValue(UV value) {
            UK mapKey = entry.getKey();
            try {
                state.beginPut(key, namespace, mapKey, value);
                UV previous = setInDelegate(mapKey, value);
                if (state.invalidations() == invalidationsBefore) {
                    state.log().append(RecordKind.PUT, keyGroup);
                } else {
                    // the entry may no longer belong to the map
                    state.logStored(key, keyGroup, namespace, mapKey);
                }
                return previous;
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot record a map entry: " + state.log(), e);
            }
        }

        private UV setInDelegate(UK mapKey, UV value) {
            try {
                return entry.setValue(value);
            } catch (Throwable t) {
                state.logStored(key, keyGroup, namespace, mapKey);
                throw t;
            }
        }

        @Override
        public boolean equals(Object other) {
            return entry.equals(other);
        }

        @Override
        public int hashCode() {
            return entry.hashCode();
        }

        @Override
        public String toString() {
            return entry.toString();
        }
    }
}
