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

import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/** A changelog that only records how far it was truncated. */
public final class TruncatedLog implements StateChangelogWriter<ChangelogStateHandle> {

    private long truncatedTo;

    /** Returns the end of the truncated range, exclusive. */
    public long truncatedTo() {
        return truncatedTo;
    }

    @Override
    public SequenceNumber initialSequenceNumber() {
        return SequenceNumber.of(0);
    }

    @Override
    public void truncate(SequenceNumber to) {
        long next = ((SequenceNumber.GenericSequenceNumber) to).number;
        if (next <= truncatedTo) {
            throw new AssertionError("Truncated to " + truncatedTo + " and then to " + next);
        }
        truncatedTo = next;
    }

    @Override
    public SequenceNumber nextSequenceNumber() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void appendMeta(byte[] value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void append(int keyGroup, byte[] value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<SnapshotResult<ChangelogStateHandle>> persist(
            SequenceNumber from, long checkpointId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void confirm(SequenceNumber from, SequenceNumber to, long checkpointId) {}

    @Override
    public void reset(SequenceNumber from, SequenceNumber to, long checkpointId) {}

    @Override
    public void truncateAndClose(SequenceNumber from) {}

    @Override
    public void close() {}
}
