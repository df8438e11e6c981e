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
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes values as a serializer does, but short ASCII strings in one step: Flink's {@link
 * StringSerializer} makes a call for each character. The bytes are the same. Used by one thread at
 * a time.
 *
 * @param <T> type of the values
 */
public final class ValueWriter<T> {

    /** Longest string before which Flink writes its length, plus one, in a single byte. */
    private static final int MAX_LENGTH = 126;

    /** First character that Flink writes in more than one byte. */
    private static final int FIRST_LONG_CHARACTER = 0x80;

    private final TypeSerializer<T> serializer;

    /** Null unless the values are strings. */
    @Nullable private final byte[] scratch;

    /** Creates a writer. The serializer may learn from what it writes. */
    public ValueWriter(TypeSerializer<T> serializer) {
        this.serializer = serializer;
        this.scratch =
                serializer.getClass() == StringSerializer.class ? new byte[1 + MAX_LENGTH] : null;
    }

    /** Returns the serializer. */
    public TypeSerializer<T> serializer() {
        return serializer;
    }

    /**
     * Writes a value.
     *
     * @throws IOException if the serializer throws it
     */
    public void write(T value, DataOutputView target) throws IOException {
        if (scratch == null || !writeAscii(value, target)) {
            serializer.serialize(value, target);
        }
    }

    private boolean writeAscii(@Nullable Object value, DataOutputView target) throws IOException {
        if (!(value instanceof String)) {
            return false;
        }
        String string = (String) value;
        int length = string.length();
        if (length > MAX_LENGTH) {
            return false;
        }
        byte[] bytes = scratch;
        int allBits = 0;
        for (int i = 0; i < length; i++) {
            char character = string.charAt(i);
            allBits |= character;
            bytes[1 + i] = (byte) character;
        }
        if (allBits >= FIRST_LONG_CHARACTER) {
            return false;
        }
        bytes[0] = (byte) (1 + length);
        target.write(bytes, 0, 1 + length);
        return true;
    }
}
