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

package dev.dstl.benchmarks.source;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Lists of splits <-> bytes: {@code int count, count x (int index, int stride, long, int, long)}.
 */
final class StripeSplitSerializer implements SimpleVersionedSerializer<List<StripeSplit>> {

    @Override
    public int getVersion() {
        return 1;
    }

    @Override
    public byte[] serialize(List<StripeSplit> splits) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(splits.size());
        for (StripeSplit split : splits) {
            out.writeInt(split.index());
            out.writeInt(split.stride());
            out.writeLong(split.stripe());
            out.writeInt(split.offset());
            out.writeLong(split.emitted());
        }
        return bytes.toByteArray();
    }

    @Override
    public List<StripeSplit> deserialize(int version, byte[] serialized) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(serialized));
        int count = in.readInt();
        List<StripeSplit> splits = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            splits.add(
                    new StripeSplit(
                            in.readInt(),
                            in.readInt(),
                            in.readLong(),
                            in.readInt(),
                            in.readLong()));
        }
        return splits;
    }

    /** The same for a single split, which is what a reader keeps. */
    SimpleVersionedSerializer<StripeSplit> single() {
        return new SimpleVersionedSerializer<>() {
            @Override
            public int getVersion() {
                return StripeSplitSerializer.this.getVersion();
            }

            @Override
            public byte[] serialize(StripeSplit split) throws IOException {
                return StripeSplitSerializer.this.serialize(List.of(split));
            }

            @Override
            public StripeSplit deserialize(int version, byte[] serialized) throws IOException {
                return StripeSplitSerializer.this.deserialize(version, serialized).get(0);
            }
        };
    }
}
