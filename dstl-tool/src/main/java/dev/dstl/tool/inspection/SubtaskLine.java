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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.segment.FrameCursor;
import dev.dstl.log.segment.FrameHeader;
import dev.dstl.log.segment.SegmentReader;
import dev.dstl.tool.checkpoint.SubtaskLog;
import dev.dstl.tool.files.Damage;
import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Table;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StreamStateHandle;

/** The changelog of one subtask, read to its end or to the first error. */
final class SubtaskLine {

    private final SubtaskLog log;
    private final Set<String> segments = new LinkedHashSet<>();
    private String reading = "";
    private long frames;
    private long frameBytes;
    private final Totals records = new Totals();
    @Nullable private String problem;

    private SubtaskLine(SubtaskLog log) {
        this.log = log;
    }

    static SubtaskLine read(SubtaskLog log, RecordBreakdown breakdown) {
        SubtaskLine line = new SubtaskLine(log);
        breakdown.startOwner(log.operatorId().toHexString());
        try (FrameCursor cursor = new FrameCursor()) {
            line.read(cursor, breakdown);
        } catch (IOException e) {
            line.problem = String.format("%s, %s", line.reading, Damage.text(e));
        }
        return line;
    }

    private void read(FrameCursor cursor, RecordBreakdown breakdown) throws IOException {
        StreamStateHandle opened = null;
        SegmentReader segment = null;
        try {
            for (Tuple2<StreamStateHandle, Long> position : log.positions()) {
                if (!position.f0.equals(opened)) {
                    reading = SubtaskLog.nameOf(position.f0);
                    segments.add(reading);
                    if (segment != null) {
                        segment.close();
                    }
                    segment = SegmentReader.open(position.f0);
                    opened = position.f0;
                }
                read(segment, segment.frameAt(position.f1), cursor, breakdown);
            }
        } finally {
            if (segment != null) {
                segment.close();
            }
        }
    }

    private void read(
            SegmentReader segment, FrameHeader frame, FrameCursor cursor, RecordBreakdown breakdown)
            throws IOException {
        breakdown.startFrame(frame);
        frames++;
        frameBytes += frame.length();
        cursor.start(segment, frame, log.keyGroups());
        LogRecord record = new LogRecord();
        while (cursor.next(record)) {
            breakdown.visit(frame, record);
            records.add(record.length());
        }
    }

    static Table table() {
        return new Table(
                "operator",
                ">subtask",
                "key groups",
                ">segments",
                ">frames",
                ">bytes",
                ">records",
                ">plain bytes");
    }

    void addTo(Table table) {
        table.row(
                log.operatorId(),
                log.subtask(),
                FrameLine.range(
                        log.keyGroups().getStartKeyGroup(), log.keyGroups().getEndKeyGroup() + 1),
                segments.size(),
                frames,
                ByteSize.text(frameBytes),
                records.records(),
                ByteSize.text(records.bytes()));
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("operatorId", log.operatorId().toHexString());
        json.put("subtask", log.subtask());
        json.put("fromKeyGroup", log.keyGroups().getStartKeyGroup());
        json.put("toKeyGroup", log.keyGroups().getEndKeyGroup() + 1);
        json.put("frames", frames);
        json.put("frameBytes", frameBytes);
        json.put("records", records.records());
        json.put("plainBytes", records.bytes());
        json.put("segments", segments);
        return json;
    }

    Set<String> segments() {
        return segments;
    }

    Optional<String> problem() {
        return Optional.ofNullable(problem);
    }
}
