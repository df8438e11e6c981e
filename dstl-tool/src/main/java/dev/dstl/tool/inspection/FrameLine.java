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

package dev.dstl.tool.inspection;

import dev.dstl.log.segment.FrameHeader;
import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Table;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/** One frame as a table row and as JSON. */
final class FrameLine {

    private FrameLine() {}

    static Table table() {
        return new Table(
                ">offset",
                ">bytes",
                "changelog",
                ">sequence",
                "key groups",
                ">with records",
                ">records",
                ">plain bytes");
    }

    static void addTo(Table table, FrameHeader frame) {
        table.row(
                frame.offset(),
                ByteSize.text(frame.length()),
                shortName(frame.logId()),
                frame.sequence(),
                range(frame.fromKeyGroup(), frame.toKeyGroup()),
                keyGroupsWithRecords(frame),
                records(frame),
                ByteSize.text(frame.plainLength()));
    }

    static Map<String, Object> json(FrameHeader frame) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("offset", frame.offset());
        json.put("bytes", frame.length());
        json.put("changelogId", frame.logId().toString());
        json.put("sequence", frame.sequence());
        json.put("fromKeyGroup", frame.fromKeyGroup());
        json.put("toKeyGroup", frame.toKeyGroup());
        json.put("keyGroupsWithRecords", keyGroupsWithRecords(frame));
        json.put("records", records(frame));
        json.put("plainBytes", frame.plainLength());
        json.put("blocks", frame.blockCount());
        return json;
    }

    static String range(int from, int to) {
        return String.format("[%d, %d)", from, to);
    }

    /** Returns enough characters to tell the changelogs of a segment apart. */
    static String shortName(UUID logId) {
        return logId.toString().substring(0, 8);
    }

    static long records(FrameHeader frame) {
        long records = 0;
        for (int place = 0; place < frame.keyGroupCount(); place++) {
            records += frame.recordCount(place);
        }
        return records;
    }

    private static int keyGroupsWithRecords(FrameHeader frame) {
        int count = 0;
        for (int place = 0; place < frame.keyGroupCount(); place++) {
            count += frame.keyGroup(place) >= 0 ? 1 : 0;
        }
        return count;
    }
}
