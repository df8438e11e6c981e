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

package dev.dstl.benchmarks.job;

import java.nio.ByteBuffer;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;

/** Records with a key and 80 incompressible random bytes. */
final class PayloadInput extends GeneratedInput<Tuple2<Long, byte[]>> {

    private static final long serialVersionUID = 1L;
    private static final int PAYLOAD_BYTES = 80;
    private static final int OLD_KEY_EVERY = 10;
    private static final long UNBOUNDED = 0;

    private final long keys;

    private PayloadInput(long keys) {
        this.keys = keys;
    }

    /** Returns an input in which nine of ten records have a new key. */
    static PayloadInput mostlyNewKeys() {
        return new PayloadInput(UNBOUNDED);
    }

    /** Returns an input whose keys are uniformly distributed over a fixed number of keys. */
    static PayloadInput ofKeys(long keys) {
        return new PayloadInput(keys);
    }

    static TypeInformation<Tuple2<Long, byte[]>> type() {
        return Types.TUPLE(Types.LONG, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
    }

    @Override
    Tuple2<Long, byte[]> event(long number) {
        ByteBuffer payload = ByteBuffer.allocate(PAYLOAD_BYTES);
        while (payload.hasRemaining()) {
            payload.putLong(Scrambler.scramble(number * PAYLOAD_BYTES + payload.position()));
        }
        return Tuple2.of(key(number), payload.array());
    }

    private long key(long number) {
        if (keys != UNBOUNDED) {
            return Scrambler.below(keys, number);
        }
        // Scrambled, since keys that only grow would be a best case for a sorted store.
        return Scrambler.scramble(isOld(number) ? newOneBefore(number) : number);
    }

    private static long newOneBefore(long number) {
        long earlier = Scrambler.below(number, number);
        return isOld(earlier) ? earlier - 1 : earlier;
    }

    private static boolean isOld(long number) {
        return number % OLD_KEY_EVERY == OLD_KEY_EVERY - 1;
    }
}
