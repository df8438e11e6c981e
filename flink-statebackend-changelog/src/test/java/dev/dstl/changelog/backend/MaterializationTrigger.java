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

/** Triggers materializations for tests of other packages. */
public final class MaterializationTrigger {

    private MaterializationTrigger() {}

    /** Triggers a materialization by mail; returns false if the backend has no changelog. */
    public static boolean trigger(CheckpointableKeyedStateBackend<?> backend) {
        if (!(backend instanceof ChangelogKeyedStateBackend)) {
            return false;
        }
        ((ChangelogKeyedStateBackend<?>) backend).materialize();
        return true;
    }
}
