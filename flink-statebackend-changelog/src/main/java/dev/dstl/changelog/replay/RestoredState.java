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

package dev.dstl.changelog.replay;

import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * A state of the delegate together with what reads its records.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <S> type of the delegate's state
 */
final class RestoredState<K, N, S extends InternalKvState<K, N, ?>> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final S state;
    private final TypeSerializer<K> keySerializer;
    private final TypeSerializer<N> namespaceSerializer;

    RestoredState(
            AbstractKeyedStateBackend<K> delegate,
            S state,
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer) {
        this.delegate = delegate;
        this.state = state;
        this.keySerializer = keySerializer;
        this.namespaceSerializer = namespaceSerializer;
    }

    AbstractKeyedStateBackend<K> delegate() {
        return delegate;
    }

    S state() {
        return state;
    }

    TypeSerializer<K> keySerializer() {
        return keySerializer;
    }

    TypeSerializer<N> namespaceSerializer() {
        return namespaceSerializer;
    }
}
