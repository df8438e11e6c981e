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
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The expected result of deduplication, computed in the simplest way. */
final class DeduplicationOracle {

    private DeduplicationOracle() {}

    /** Survivors in the order of a frame. */
    static List<TestRecord> deduplicatedAndOrdered(List<TestRecord> records) {
        List<TestRecord> kept = new ArrayList<>();
        for (int older = 0; older < records.size(); older++) {
            boolean obsolete = false;
            for (int newer = older + 1; newer < records.size(); newer++) {
                obsolete |= makesObsolete(records.get(newer), records.get(older));
            }
            if (!obsolete) {
                kept.add(records.get(older));
            }
        }
        return ordered(kept);
    }

    static List<TestRecord> ordered(List<TestRecord> records) {
        return records.stream()
                .sorted((left, right) -> Integer.compare(left.keyGroup, right.keyGroup))
                .collect(Collectors.toList());
    }

    private static boolean makesObsolete(TestRecord newer, TestRecord older) {
        if (older.kind == RecordKind.META
                || older.kind == RecordKind.OPAQUE
                || older.stateId != newer.stateId) {
            return false;
        }
        switch (newer.kind) {
            case PUT:
            case DELETE:
                return older.kind != RecordKind.DELETE_PREFIX
                        && older.recordKey().equals(newer.recordKey());
            case DELETE_PREFIX:
                return older.prefix().equals(newer.recordKey());
            default:
                return false;
        }
    }

    /**
     * The state after a replay onto a base that has a value for everything that records name.
     *
     * @param named records that say what the base has
     */
    static Map<String, String> replay(List<TestRecord> named, List<TestRecord> records) {
        Map<String, String> state = new TreeMap<>();
        for (TestRecord record : named) {
            if (record.kind != RecordKind.META && record.kind != RecordKind.OPAQUE) {
                state.put(name(record), "base");
            }
        }
        for (TestRecord record : records) {
            String value = new String(record.payload, java.nio.charset.StandardCharsets.ISO_8859_1);
            switch (record.kind) {
                case PUT:
                    state.put(name(record), value);
                    break;
                case DELETE:
                    state.remove(name(record));
                    break;
                case APPEND:
                    state.merge(name(record), value, (list, added) -> list + "," + added);
                    break;
                case DELETE_PREFIX:
                    state.keySet().removeIf(key -> key.startsWith(prefixName(record)));
                    break;
                default:
                    break;
            }
        }
        return state;
    }

    private static String prefixName(TestRecord record) {
        return record.stateId + "/" + record.prefix() + "/";
    }

    private static String name(TestRecord record) {
        return prefixName(record) + record.recordKey().substring(record.keyPrefixLength);
    }
}
