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

import org.apache.flink.runtime.state.StateEntry;

/**
 * An entry of a {@link HeapMap}: one link of a bucket's chain. Fields change only while no view
 * still needs the entry, see {@link HeapMap}.
 */
final class HeapEntry<K, N, S> implements StateEntry<K, N, S> {

    final K key;
    final N namespace;
    final int hash;

    S state;
    HeapEntry<K, N, S> next;

    /** Version of the map in which this link was made. */
    int version;

    /** Version of the map in which the state object was set or copied. */
    int stateVersion;

    HeapEntry(K key, N namespace, int hash, S state, HeapEntry<K, N, S> next, int version) {
        this.key = key;
        this.namespace = namespace;
        this.hash = hash;
        this.state = state;
        this.next = next;
        this.version = version;
        this.stateVersion = version;
    }

    HeapEntry<K, N, S> copy(HeapEntry<K, N, S> newNext, int newVersion) {
        HeapEntry<K, N, S> copy = new HeapEntry<>(key, namespace, hash, state, newNext, newVersion);
        copy.stateVersion = stateVersion;
        return copy;
    }

    boolean matches(int otherHash, K otherKey, N otherNamespace) {
        return hash == otherHash
                && (key == otherKey || key.equals(otherKey))
                && (namespace == otherNamespace || namespace.equals(otherNamespace));
    }

    @Override
    public K getKey() {
        return key;
    }

    @Override
    public N getNamespace() {
        return namespace;
    }

    @Override
    public S getState() {
        return state;
    }
}
