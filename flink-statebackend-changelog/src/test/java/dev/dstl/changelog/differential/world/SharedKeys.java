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

package dev.dstl.changelog.differential.world;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.SharedStateRegistryKey;

/** Collects the keys under which the JobManager registers the shared files of handles. */
final class SharedKeys {

    private SharedKeys() {}

    static Set<String> of(Object handles) throws IOException {
        Set<String> keys = new TreeSet<>();
        HandleVisitor.visit(
                handles,
                object -> {
                    if (object instanceof IncrementalRemoteKeyedStateHandle) {
                        add((IncrementalRemoteKeyedStateHandle) object, keys);
                    }
                });
        return keys;
    }

    private static void add(IncrementalRemoteKeyedStateHandle snapshot, Set<String> keys) {
        for (HandleAndLocalPath file : snapshot.getSharedState()) {
            keys.add(SharedStateRegistryKey.forStreamStateHandle(file.getHandle()).getKeyString());
        }
    }
}
