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

import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;

/**
 * A state backend that can be used by operators with asynchronous state. Its keyed backends are
 * accessed synchronously, and disposed with the operators.
 */
public interface AsynchronousStateBackend extends StateBackend {

    @Override
    default boolean supportsAsyncKeyedStateBackend() {
        return true;
    }

    @Override
    default <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws Exception {
        // On Flink 1.20 this refuses the jar, and the other class could not be loaded.
        CheckpointableKeyedStateBackend<K> backend = createKeyedStateBackend(parameters);
        return new OwningAsyncKeyedStateBackend<>(backend);
    }
}
