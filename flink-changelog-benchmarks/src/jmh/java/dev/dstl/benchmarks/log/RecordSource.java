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
 * Records of 100 bytes with new keys and random payloads, so that neither deduplication nor
 * compression improves the result. Used by one thread.
 *
 * <pre>
 *  | key, 8 bytes | namespace, 8 bytes, zero | payload, 84 bytes |
 * </pre>
 */
final class RecordSource {

    static final int RECORD_BYTES = 100;
    static final int RECORD_KEY_BYTES = 16;
    static final int KEY_GROUPS = 128;

    private static final int PAYLOAD_BYTES = RECORD_BYTES - RECORD_KEY_BYTES;

    /** More than fits into a batch, so that no batch sees a payload twice. */
    private static final byte[] PAYLOADS = new byte[8 << 20];

    static {
        new Random(0).nextBytes(PAYLOADS);
    }

    private final byte[] record = new byte[RECORD_BYTES];
    private int nextPayload;
    private long key;

    /**
     * @param seed sources with different ones start at different payloads
     */
    RecordSource(long seed) {
        nextPayload = new Random(seed).nextInt(PAYLOADS.length - PAYLOAD_BYTES);
    }

    /** Returns the next record; valid until the next call. */
    byte[] next() {
        key++;
        for (int i = 0; i < Long.BYTES; i++) {
            record[i] = (byte) (key >>> (8 * (Long.BYTES - 1 - i)));
        }
        System.arraycopy(PAYLOADS, nextPayload, record, RECORD_KEY_BYTES, PAYLOAD_BYTES);
        nextPayload += PAYLOAD_BYTES;
        if (nextPayload > PAYLOADS.length - PAYLOAD_BYTES) {
            nextPayload = 0;
        }
        return record;
    }

    /** The key group of the record {@link #next()} returned last. */
    int keyGroup() {
        return (int) ((key * 0x9E3779B97F4A7C15L) >>> 57);
    }
}
