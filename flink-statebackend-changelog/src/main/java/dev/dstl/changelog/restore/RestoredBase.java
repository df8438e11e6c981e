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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.replay.RestoredStates;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;

/**
 * A delegate with the restored bases, and their schema versions.
 *
 * @param <K> type of the key
 */
final class RestoredBase<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final RestoredStates<K> states;
    private final boolean ofSeveralVersions;

    RestoredBase(
            AbstractKeyedStateBackend<K> delegate,
            RestoredStates<K> states,
            boolean ofSeveralVersions) {
        this.delegate = delegate;
        this.states = states;
        this.ofSeveralVersions = ofSeveralVersions;
    }

    AbstractKeyedStateBackend<K> delegate() {
        return delegate;
    }

    /** Returns the states into which changelogs are replayed. */
    RestoredStates<K> states() {
        return states;
    }

    /** Returns whether the snapshots could not be restored together. */
    boolean ofSeveralVersions() {
        return ofSeveralVersions;
    }
}
