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

import dev.dstl.spillable.layout.SpilledLayout;
import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.util.Objects;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StateTransformationFunction;

/**
 * A state's entry of the current key, in a namespace given with each call. Task thread only.
 *
 * <p>Every access throws a {@link NullPointerException} if no key is selected or the namespace is
 * null, and an {@link java.io.UncheckedIOException} that names the state if spilled bytes cannot be
 * read or written.
 */
public final class CurrentEntry<K, N, S> {

    private final CurrentKey<K> currentKey;
    private final KeyGroups<K, N, S> groups;

    CurrentEntry(CurrentKey<K> currentKey, KeyGroups<K, N, S> groups) {
        this.currentKey = currentKey;
        this.groups = groups;
    }

    /** The current key, or null if none was selected. */
    public K key() {
        return currentKey.getCurrentKey();
    }

    /** The key group of {@link #key()}. */
    public int keyGroup() {
        return currentKey.getCurrentKeyGroupIndex();
    }

    /** How the state lies in spilled entries; another one after its serializers changed. */
    public SpilledLayout<K, N, S> layout() {
        return groups.layout();
    }

    /**
     * The state, or null if there is none. An object that may be changed: on the heap the change
     * counts, of spilled state it is a copy.
     */
    @Nullable
    public S get(N namespace) {
        return groups.get(group(namespace), key(), namespace, currentKey.epoch());
    }

    /** The state if it is on the heap, where it may be changed in place, else null. */
    @Nullable
    public S heapState(N namespace) {
        return group(namespace).heapState(key(), namespace);
    }

    /**
     * Selects the entry, which is not on the heap, in the {@link #layout()}.
     *
     * @return the spilled map it is in or belongs to, null if it is nowhere and belongs on the heap
     * @throws IOException if key or namespace cannot be serialized
     */
    @Nullable
    public PartitionedMap spilledHome(N namespace) throws IOException {
        return groups.spilledHome(group(namespace), key(), namespace, currentKey.epoch());
    }

    /** Says that a user key of the state, a map, is to be set or removed, wherever that is. */
    public void userKeyChanged(N namespace, Object userKey) {
        group(namespace).userKeyChanged(key(), namespace, userKey);
    }

    /** Whether the state is on the heap and about to leave it. */
    public boolean isLeaving(N namespace) {
        return group(namespace).isLeaving(key(), namespace);
    }

    /** Sets the state, which belongs to the table from then on. */
    public void put(N namespace, S state) {
        groups.put(group(namespace), key(), namespace, state, currentKey.epoch());
    }

    /** Removes the state if there is one. */
    public void remove(N namespace) {
        groups.remove(group(namespace), key(), namespace, currentKey.epoch());
    }

    /** Removes the state and returns it, or null if there was none. The caller owns it. */
    @Nullable
    public S removeAndGet(N namespace) {
        return groups.removeAndGet(group(namespace), key(), namespace, currentKey.epoch());
    }

    /**
     * Sets the state to what {@code transformation} makes of it, which is given null if there is
     * none, and of {@code value}.
     *
     * @throws Exception as {@code transformation} throws it; the state stays what it was then
     */
    public <T> void transform(
            N namespace, T value, StateTransformationFunction<S, T> transformation)
            throws Exception {
        put(namespace, transformation.apply(get(namespace), value));
    }

    private KeyGroupMap<K, N, S> group(N namespace) {
        Objects.requireNonNull(
                key(), "No key set. This method should not be called outside of a keyed context.");
        Objects.requireNonNull(namespace, "Provided namespace is null.");
        return groups.group(keyGroup());
    }
}
