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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The bytes of record key and payload. All values are written by the serializers of the job, one
 * after the other, without lengths; integers are big-endian.
 *
 * <pre>
 *   state        kind            record key                payload
 *   -----------  --------------  ------------------------  ---------------------------------------
 *   VALUE        PUT             key, namespace            value
 *                DELETE          key, namespace            -
 *   REDUCING     PUT             key, namespace            reduced value
 *                DELETE          key, namespace            -
 *   AGGREGATING  PUT             key, namespace            accumulator
 *                DELETE          key, namespace            -
 *   LIST         PUT             key, namespace            count (4 bytes), elements: the whole list
 *                APPEND          key, namespace            count (4 bytes), elements: the new ones
 *                DELETE          key, namespace            -
 *   MAP          PUT             key, namespace, map key   1 (1 byte) if the value is null,
 *                                                          else 0 (1 byte), value
 *                DELETE          key, namespace, map key   -
 *                DELETE_PREFIX   key, namespace            -
 *   QUEUE        PUT             element                   -
 *                DELETE          element                   -
 * </pre>
 *
 * <p>A record belongs to the key group of its key; that of a queue to the key group of the
 * element's key, whatever key is current. Before the first record of a state comes its META record,
 * see {@link StateRegistration}. Stateless and thread-safe.
 */
public final class StateRecordFormat {

    private StateRecordFormat() {}

    /** Writes the payload of a list: the whole list or the appended elements. */
    public static <T> void writeElements(
            List<T> elements, TypeSerializer<T> serializer, DataOutputView target)
            throws IOException {
        target.writeInt(elements.size());
        for (T element : elements) {
            serializer.serialize(element, target);
        }
    }

    /** Writes the payload of a list with one element. */
    public static <T> void writeElement(
            T element, TypeSerializer<T> serializer, DataOutputView target) throws IOException {
        target.writeInt(1);
        serializer.serialize(element, target);
    }

    /**
     * Reads the payload of a list.
     *
     * @return a new list, owned by the caller
     */
    public static <T> List<T> readElements(TypeSerializer<T> serializer, DataInputView source)
            throws IOException {
        int count = source.readInt();
        if (count < 0) {
            throw new IOException("Expected the number of list elements, found " + count);
        }
        List<T> elements = new ArrayList<>(Math.min(count, 1024));
        for (int i = 0; i < count; i++) {
            elements.add(serializer.deserialize(source));
        }
        return elements;
    }

    /** Writes the payload of a map entry. */
    public static <T> void writeMapValue(T value, ValueWriter<T> values, DataOutputView target)
            throws IOException {
        target.writeBoolean(value == null);
        if (value != null) {
            values.write(value, target);
        }
    }

    /** Reads the payload of a map entry; null for a null value. */
    public static <T> T readMapValue(TypeSerializer<T> serializer, DataInputView source)
            throws IOException {
        return source.readBoolean() ? null : serializer.deserialize(source);
    }
}
