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

package dev.dstl.changelog.record;

import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * A writer of DSTL's storage that several threads may use. Owns the writer behind it, whose mails
 * hold the same monitor.
 */
public final class SynchronizedChangelogWriter
        extends SynchronizedWriter<ChangelogStateHandleStreamImpl, ChangelogWriter>
        implements ChangelogWriter {

    private SynchronizedChangelogWriter(ChangelogWriter writer) {
        super(writer);
    }

    /**
     * Returns a writer that several threads may use, and that owns the given one.
     *
     * @param writer of DSTL's storage, or of one that does nothing with it unless it is called
     */
    public static StateChangelogWriter<?> of(StateChangelogWriter<?> writer) {
        return writer instanceof ChangelogWriter
                ? new SynchronizedChangelogWriter((ChangelogWriter) writer)
                : new SynchronizedWriter<>(writer);
    }

    @Override
    public void restoredFrom(long checkpointId) {
        synchronized (writer) {
            writer.restoredFrom(checkpointId);
        }
    }

    @Override
    public void append(
            RecordKind kind,
            int keyGroup,
            int stateId,
            byte[] bytes,
            int keyPrefixLength,
            int keyLength,
            int length)
            throws IOException {
        synchronized (writer) {
            writer.append(kind, keyGroup, stateId, bytes, keyPrefixLength, keyLength, length);
        }
    }

    @Override
    public void addCompactionBoundary() {
        synchronized (writer) {
            writer.addCompactionBoundary();
        }
    }

    @Override
    public void removeCompactionBoundary(SequenceNumber at) {
        writer.removeCompactionBoundary(at);
    }

    @Override
    public void baseReplaced(long bytes) {
        synchronized (writer) {
            writer.baseReplaced(bytes);
        }
    }

    @Override
    public void dropped(ChangelogStateHandleStreamImpl handle) {
        writer.dropped(handle);
    }
}
