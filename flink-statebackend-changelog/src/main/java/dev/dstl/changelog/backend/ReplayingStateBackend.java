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

package dev.dstl.changelog.backend;

import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;

/**
 * A state backend that restores a changelog checkpoint and continues without a changelog: its keyed
 * backend is the delegate's own, after a replay of the changelog.
 */
public abstract class ReplayingStateBackend extends WrappingStateBackend {

    private static final long serialVersionUID = 1L;

    /** Creates the backend, see {@link WrappingStateBackend#WrappingStateBackend}. */
    protected ReplayingStateBackend(StateBackend backend) {
        super(backend);
    }

    @Override
    public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws Exception {
        return replayed(parameters);
    }
}
