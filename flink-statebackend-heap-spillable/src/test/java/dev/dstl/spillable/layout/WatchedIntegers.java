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

package dev.dstl.spillable.layout;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes integers, and tells a test of each. */
public abstract class WatchedIntegers extends TypeSerializerSingleton<Integer> {

    private static final long serialVersionUID = 1L;

    /** An integer has been serialized. */
    protected abstract void written();

    /** An integer has been deserialized. */
    protected abstract void read();

    @Override
    public final boolean isImmutableType() {
        return true;
    }

    @Override
    public final Integer createInstance() {
        return 0;
    }

    @Override
    public final Integer copy(Integer from) {
        return from;
    }

    @Override
    public final Integer copy(Integer from, Integer reuse) {
        return from;
    }

    @Override
    public final int getLength() {
        return Integer.BYTES;
    }

    @Override
    public final void serialize(Integer record, DataOutputView target) throws IOException {
        target.writeInt(record);
        written();
    }

    @Override
    public final Integer deserialize(DataInputView source) throws IOException {
        int value = source.readInt();
        read();
        return value;
    }

    @Override
    public final Integer deserialize(Integer reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public final void copy(DataInputView source, DataOutputView target) throws IOException {
        target.writeInt(source.readInt());
    }
}
