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

package dev.dstl.spillable.table;

import dev.dstl.spillable.FakeStringSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes nothing. */
final class RefusingSerializer extends FakeStringSerializer {

    private static final long serialVersionUID = 1L;

    @Override
    public void serialize(String record, DataOutputView target) throws IOException {
        throw new IOException("refused");
    }

    @Override
    public String deserialize(DataInputView source) throws IOException {
        throw new IOException("refused");
    }

    @Override
    public TypeSerializerSnapshot<String> snapshotConfiguration() {
        return new SimpleTypeSerializerSnapshot<String>(RefusingSerializer::new) {};
    }
}
