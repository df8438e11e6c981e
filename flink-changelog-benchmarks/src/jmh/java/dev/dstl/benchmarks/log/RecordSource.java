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

package dev.dstl.benchmarks.log;

import java.util.Random;

/**
 * Records of 100 bytes with ever new keys and random payloads, so that neither combining nor
 * compression makes the log look better than it is. One thread.
 *
 * <pre>
 *  | key, 8 bytes | namespace, 8 bytes, zero | payload, 84 bytes |
 * </pre>
 */
final class RecordSource {

    static final int RECORD_BYTES = 100;
    static final int IDENTITY_BYTES = 16;
    static final int KEY_GROUPS = 128;

    private static final int PAYLOADS = 1024;

    private final byte[][] records = new byte[PAYLOADS][RECORD_BYTES];
    private long key;

    RecordSource(long seed) {
        Random random = new Random(seed);
        for (byte[] record : records) {
            random.nextBytes(record);
            for (int i = Long.BYTES; i < IDENTITY_BYTES; i++) {
                record[i] = 0;
            }
        }
    }

    /** The next record; valid until the call after {@value #PAYLOADS} more. */
    byte[] next() {
        key++;
        byte[] record = records[(int) (key % PAYLOADS)];
        for (int i = 0; i < Long.BYTES; i++) {
            record[i] = (byte) (key >>> (8 * (Long.BYTES - 1 - i)));
        }
        return record;
    }

    /** The key group of the record {@link #next()} returned last. */
    int keyGroup() {
        return (int) ((key * 0x9E3779B97F4A7C15L) >>> 57);
    }
}
