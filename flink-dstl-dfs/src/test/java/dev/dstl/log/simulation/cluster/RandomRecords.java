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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.simulation.schedule.Dice;
import java.nio.charset.StandardCharsets;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Records of every kind, with few record keys so that they often collide. */
final class RandomRecords {

    private static final int STATES = 3;

    private final Dice dice;
    private int count;

    RandomRecords(Dice dice) {
        this.dice = dice;
    }

    TestRecord next(KeyGroupRange keyGroups) {
        int keyGroup = keyGroups.getStartKeyGroup() + dice.below(keyGroups.getNumberOfKeyGroups());
        int state = dice.below(STATES);
        // A key has one key group, so no record key occurs in two of them.
        String prefix = keyGroup + dice.oneOf("a", "b", "c") + dice.oneOf("", "-x");
        switch (dice.below(16)) {
            case 0:
                return TestRecord.meta(state, payload());
            case 1:
            case 2:
                return TestRecord.opaque(keyGroup, payload());
            case 3:
            case 4:
                return record(RecordKind.DELETE, keyGroup, state, prefix, rest(), "");
            case 5:
                return record(RecordKind.DELETE_PREFIX, keyGroup, state, prefix, "", "");
            case 6:
            case 7:
            case 8:
                return record(RecordKind.APPEND, keyGroup, state, prefix, "", payload());
            default:
                return record(RecordKind.PUT, keyGroup, state, prefix, rest(), payload());
        }
    }

    private static TestRecord record(
            RecordKind kind, int keyGroup, int state, String prefix, String rest, String payload) {
        return TestRecord.of(kind, keyGroup, state, prefix, rest, payload);
    }

    private String rest() {
        return dice.oneOf("", "m", "n");
    }

    private String payload() {
        int size = dice.percent(3) ? 4_000 : (int) dice.skewed(200);
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) ('a' + i % 7);
        }
        return count++ + new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
