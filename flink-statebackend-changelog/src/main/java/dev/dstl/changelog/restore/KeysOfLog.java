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

import dev.dstl.changelog.record.StateRegistration;
import dev.dstl.changelog.schema.SchemaVersion;
import dev.dstl.changelog.schema.Transition;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;

/**
 * Reads the key serializer from a changelog if there is no base. A delegate writes keys as bytes
 * from the start, so it needs the serializer before the replay. Used by the task thread.
 */
final class KeysOfLog {

    private final LogReaders readers;
    private final ClassLoader userClassLoader;

    /** Creates a reader. All arguments stay the caller's. */
    KeysOfLog(LogReaders readers, ClassLoader userClassLoader) {
        this.readers = readers;
        this.userClassLoader = userClassLoader;
    }

    /**
     * Returns the job's serializer, reconfigured if the keys of the first changelog require it.
     *
     * @throws IOException if the changelog cannot be read
     */
    <K> TypeSerializer<K> serializer(TypeSerializer<K> ofJob, List<ChangelogStateHandle> logs)
            throws IOException {
        if (ofJob.snapshotConfiguration() instanceof SimpleTypeSerializerSnapshot) {
            return ofJob; // has nothing to configure
        }
        for (ChangelogStateHandle log : logs) {
            try (RecordCursor cursor = new InterruptibleCursor(readers.open(log))) {
                LogRecord record = new LogRecord();
                while (cursor.next(record)) {
                    if (record.kind() == RecordKind.META) {
                        return reconfigured(ofJob, record);
                    }
                    if (record.kind() == RecordKind.OPAQUE) {
                        return ofJob; // not in Flink's built-in changelog
                    }
                }
            }
        }
        return ofJob;
    }

    @SuppressWarnings("unchecked") // the compatibility check compares the types
    private <K> TypeSerializer<K> reconfigured(TypeSerializer<K> ofJob, LogRecord meta)
            throws IOException {
        TypeSerializerSnapshot<K> written =
                (TypeSerializerSnapshot<K>)
                        StateRegistration.read(
                                        new DataInputDeserializer(
                                                meta.buffer(),
                                                meta.payloadOffset(),
                                                meta.payloadLength()),
                                        userClassLoader)
                                .keySerializerSnapshot();
        Transition<K> transition = SchemaVersion.of(written).to(ofJob);
        return transition.leavesData() ? transition.serializer() : ofJob;
    }
}
