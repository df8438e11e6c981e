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

package dev.dstl.benchmarks.harness;

import dev.dstl.benchmarks.cluster.ClassPath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** The changelog of a variant. */
public enum Changelog {
    /** No changelog. */
    NONE(""),
    /** Flink's built-in changelog. */
    BUILT_IN("filesystem"),
    /** DSTL. */
    DSTL("dstl");

    private final String storage;

    Changelog(String storage) {
        this.storage = storage;
    }

    /**
     * Returns the value of {@code state.changelog.storage}, which is also the identifier in
     * handles.
     */
    public String storage() {
        return storage;
    }

    /** Returns the storages that must have written the changelog of a checkpoint. */
    public Set<String> storages() {
        return this == NONE ? Set.of() : Set.of(storage);
    }

    /**
     * Returns the class path of processes with this changelog and no other.
     *
     * @param builtInJars directory of the jars of Flink's built-in changelog
     */
    public ClassPath classPath(Path builtInJars) throws IOException {
        ClassPath all = ClassPath.ofThisProcess().withoutBuiltIn();
        switch (this) {
            case NONE:
                return all.withoutBackends();
            case BUILT_IN:
                return all.withoutBackends().withJarsOf(builtInJars);
            case DSTL:
                return all;
        }
        throw new IllegalStateException(name());
    }
}
