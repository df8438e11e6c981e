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

package dev.dstl.changelog.schema;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The schema versions that a checkpoint may contain from now on: of the restored states, and of
 * those that the job has registered since. Belongs to the task thread.
 */
public final class SchemaHistory {

    private final Map<String, List<StateSchema>> byName = new HashMap<>();
    private final List<SchemaVersion<?>> keys = new ArrayList<>();
    private Runnable onChange = () -> {};

    /**
     * Sets the action to run when the job registers a state in another version than that of the
     * checkpoint: the next checkpoint must then contain nothing from before.
     */
    public void onChange(Runnable action) {
        onChange = action;
    }

    /** Records the version of a state in a restored base or changelog. */
    public void restored(StateSchema state) {
        List<StateSchema> versions =
                byName.computeIfAbsent(state.name(), name -> new ArrayList<>());
        if (versions.stream().noneMatch(state::isSameAs)) {
            versions.add(state);
        }
    }

    /** Records the version of the keys in a restored base or changelog. */
    public void restoredKeys(SchemaVersion<?> version) {
        if (keys.stream().noneMatch(version::isSameAs)) {
            keys.add(version);
        }
    }

    /**
     * Returns whether all restored keys have the version in which the state backend writes keys.
     */
    public boolean hasOnlyKeys(SchemaVersion<?> present) {
        return keys.stream().allMatch(present::isSameAs);
    }

    /** Records the version in which a state that the job has registered is written from now on. */
    public void registered(StateSchema state) {
        List<StateSchema> before = byName.put(state.name(), new ArrayList<>(List.of(state)));
        if (before != null && !before.stream().allMatch(state::isSameAs)) {
            onChange.run();
        }
    }
}
