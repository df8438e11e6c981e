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

package dev.dstl.spillable.incremental;

import dev.dstl.spillable.FakeStringSerializer;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Reads one version of its format and writes another, as Flink's serializer of Avro's generated
 * classes does once it is restored: it reads the schema of the snapshot and writes that of the
 * class.
 */
final class EvolvingStringSerializer extends FakeStringSerializer {

    private static final long serialVersionUID = 1L;

    /** That of the class, or {@link #AS_READ}. */
    static volatile int latest;

    /** A version that cannot be compared with others. */
    static final int NOT_COMPARABLE = 9;

    /** Writes what it reads, as most serializers do once they are restored. */
    static final int AS_READ = 0;

    private static final AtomicInteger DESCRIPTIONS = new AtomicInteger();

    private final int read;
    private final int written;

    /** Reads and writes a version. */
    EvolvingStringSerializer(int version) {
        this(version, version);
    }

    private EvolvingStringSerializer(int read, int written) {
        this.read = read;
        this.written = written;
    }

    @Override
    public void serialize(String record, DataOutputView target) throws IOException {
        for (int i = 0; i < written; i++) {
            target.writeInt(written);
        }
        target.writeUTF(record);
    }

    @Override
    public String deserialize(DataInputView source) throws IOException {
        for (int i = 0; i < read; i++) {
            int found = source.readInt();
            if (found != read) {
                throw new IOException("Expected version " + read + ", found " + found);
            }
        }
        return source.readUTF();
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        serialize(deserialize(source), target);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EvolvingStringSerializer
                && read == ((EvolvingStringSerializer) other).read
                && written == ((EvolvingStringSerializer) other).written;
    }

    @Override
    public int hashCode() {
        return 31 * read + written;
    }

    @Override
    public TypeSerializerSnapshot<String> snapshotConfiguration() {
        return new Snapshot(written);
    }

    /** Holds the version that was written. */
    public static final class Snapshot implements TypeSerializerSnapshot<String> {

        private int version;

        /** For Flink. */
        public Snapshot() {
            this(0);
        }

        private Snapshot(int version) {
            this.version = version;
        }

        @Override
        public int getCurrentVersion() {
            return 1;
        }

        @Override
        public void writeSnapshot(DataOutputView out) throws IOException {
            out.writeInt(version);
            // No two describe the same in the same way, as with POJOs whose subclasses are listed
            // in an order that differs between processes.
            out.writeInt(DESCRIPTIONS.incrementAndGet());
        }

        @Override
        public void readSnapshot(int readVersion, DataInputView in, ClassLoader userClassLoader)
                throws IOException {
            version = in.readInt();
            in.readInt();
        }

        @Override
        public TypeSerializer<String> restoreSerializer() {
            return new EvolvingStringSerializer(version, latest == AS_READ ? version : latest);
        }

        @Override
        public TypeSerializerSchemaCompatibility<String> resolveSchemaCompatibility(
                TypeSerializerSnapshot<String> before) {
            int other = ((Snapshot) before).version;
            if (other != version && Math.max(other, version) == NOT_COMPARABLE) {
                throw new IllegalStateException("Missing key, as for a POJO that lost a field");
            }
            return other == version
                    ? TypeSerializerSchemaCompatibility.compatibleAsIs()
                    : TypeSerializerSchemaCompatibility.compatibleAfterMigration();
        }
    }
}
