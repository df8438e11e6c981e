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

package dev.dstl.spillable.spill;

import dev.dstl.spillable.FakeStringSerializer;
import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes all strings but three, for which it fails in different ways. */
public final class PickySerializer extends FakeStringSerializer {

    public static final String REFUSED = "cannot be written";
    public static final String TOO_DEEP = "cannot be written with so small a stack";
    public static final String INCOMPLETE = "cannot be written before it is complete";
    public static final String DAMAGED = "cannot be read, as it is damaged";
    public static final String UNKNOWN = "cannot be read, as its class is gone";

    private static final long serialVersionUID = 1L;

    @Override
    public void serialize(String record, DataOutputView target) throws IOException {
        switch (record) {
            case REFUSED:
                throw new IOException("refused");
            case TOO_DEEP:
                throw new StackOverflowError();
            case INCOMPLETE:
                throw new NullPointerException("no address");
            default:
                // the others can be written
        }
        StringSerializer.INSTANCE.serialize(record, target);
    }

    @Override
    public String deserialize(DataInputView source) throws IOException {
        String record = StringSerializer.INSTANCE.deserialize(source);
        switch (record) {
            case DAMAGED:
                throw new EOFException("damaged");
            case UNKNOWN:
                throw new IllegalStateException("class is gone");
            default:
                return record;
        }
    }

    @Override
    public TypeSerializerSnapshot<String> snapshotConfiguration() {
        return new SimpleTypeSerializerSnapshot<String>(PickySerializer::new) {};
    }
}
