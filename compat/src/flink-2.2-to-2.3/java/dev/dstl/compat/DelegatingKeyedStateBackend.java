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

package dev.dstl.compat;

import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;

/**
 * A keyed backend that forwards calls to another one, and implements methods that only some lines
 * of Flink have. Used by the task thread only. The subclass owns the delegate.
 *
 * @param <K> type of the key
 */
public abstract class DelegatingKeyedStateBackend<K> implements CheckpointableKeyedStateBackend<K> {

    /** The backend to which all calls are forwarded. */
    protected final AbstractKeyedStateBackend<K> delegate;

    /** Creates a backend that forwards to {@code delegate}. */
    protected DelegatingKeyedStateBackend(AbstractKeyedStateBackend<K> delegate) {
        this.delegate = delegate;
    }

    @Override
    public void setCurrentKeyAndKeyGroup(K newKey, int newKeyGroup) {
        delegate.setCurrentKeyAndKeyGroup(newKey, newKeyGroup);
    }

    @Override
    public <N> Stream<K> getKeys(List<String> states, N namespace) {
        return delegate.getKeys(states, namespace);
    }

    @Override
    public String getBackendTypeIdentifier() {
        return delegate.getBackendTypeIdentifier();
    }
}
