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

package dev.dstl.log.segment;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random records with few record keys, so that they often collide. Key prefixes are prefix-free, as
 * those of a state are.
 */
final class RecordArbitraries {

    static final int KEY_GROUPS = 6;

    private static final String[] PREFIXES = {
        "k1", "k2", "k3", "longer key, with namespace", "a", "b", "c", ""
    };
    private static final String[] REST = {"", "m", "map key 2"};
    private static final RecordKind[] WITH_RECORD_KEY = {
        RecordKind.PUT,
        RecordKind.PUT,
        RecordKind.DELETE,
        RecordKind.DELETE_PREFIX,
        RecordKind.APPEND
    };

    private RecordArbitraries() {}

    static List<TestRecord> records(Random random, int count, int maxPayload) {
        // The empty prefix is a prefix of all others, so it is alone in its state.
        List<TestRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int state = random.nextInt(4);
            String payload = text(random, maxPayload);
            int choice = random.nextInt(12);
            if (choice == 0) {
                records.add(TestRecord.meta(state, payload));
            } else if (choice == 1) {
                records.add(TestRecord.opaque(random.nextInt(KEY_GROUPS + 1) - 1, payload));
            } else {
                int prefix = state == 3 ? PREFIXES.length - 1 : random.nextInt(7);
                RecordKind kind = WITH_RECORD_KEY[random.nextInt(WITH_RECORD_KEY.length)];
                boolean deletes = kind == RecordKind.DELETE || kind == RecordKind.DELETE_PREFIX;
                records.add(
                        TestRecord.of(
                                kind,
                                prefix % KEY_GROUPS,
                                state,
                                PREFIXES[prefix],
                                kind == RecordKind.DELETE_PREFIX
                                        ? ""
                                        : REST[random.nextInt(REST.length)],
                                deletes ? "" : payload));
            }
        }
        return records;
    }

    /** Half compressible, half not. */
    private static String text(Random random, int maxLength) {
        int length = random.nextInt(maxLength + 1);
        StringBuilder text = new StringBuilder();
        boolean noise = random.nextBoolean();
        for (int i = 0; i < length; i++) {
            text.append((char) (noise ? random.nextInt(256) : 'a' + i % 7));
        }
        return text.toString();
    }
}
