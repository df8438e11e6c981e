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

package dev.dstl.changelog.materialization;

import java.util.List;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** Reports that it is deleted, or has a plugin that misses a class then. */
final class DiscardedFile extends ByteStreamStateHandle {

    private static final long serialVersionUID = 1L;

    private final boolean classIsMissing;
    private final transient List<String> deleted;

    /**
     * @param deleted gets the name
     */
    DiscardedFile(String name, boolean classIsMissing, List<String> deleted) {
        super(name, new byte[1]);
        this.classIsMissing = classIsMissing;
        this.deleted = deleted;
    }

    @Override
    public void discardState() {
        if (classIsMissing) {
            throw new NoClassDefFoundError(getHandleName());
        }
        deleted.add(getHandleName());
    }
}
