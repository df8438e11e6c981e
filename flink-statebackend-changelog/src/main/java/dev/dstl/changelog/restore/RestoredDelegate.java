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

import dev.dstl.changelog.schema.SchemaHistory;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;

/**
 * A delegate with the whole state of a checkpoint.
 *
 * @param <K> type of the key
 */
public final class RestoredDelegate<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final SchemaHistory history;
    private final boolean needsFullSnapshot;
    private final long bytesOfUnknownSize;

    RestoredDelegate(
            AbstractKeyedStateBackend<K> delegate,
            SchemaHistory history,
            boolean needsFullSnapshot,
            long bytesOfUnknownSize) {
        this.delegate = delegate;
        this.history = history;
        this.needsFullSnapshot = needsFullSnapshot;
        this.bytesOfUnknownSize = bytesOfUnknownSize;
    }

    /** Returns the delegate, owned by the caller. */
    public AbstractKeyedStateBackend<K> delegate() {
        return delegate;
    }

    /** Returns the schema versions of the checkpoint. */
    public SchemaHistory history() {
        return history;
    }

    /** Returns the size in bytes of the records of changelogs whose handles have the size 0. */
    public long bytesOfUnknownSize() {
        return bytesOfUnknownSize;
    }

    /** Returns whether new checkpoints must not contain the restored bases. */
    public boolean needsFullSnapshot() {
        return needsFullSnapshot;
    }
}
