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

import dev.dstl.log.segment.CorruptSegmentException;
import dev.dstl.log.segment.FrameHeader;
import dev.dstl.log.segment.SegmentInspection;
import dev.dstl.tool.files.Damage;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.Table;
import dev.dstl.tool.output.ToolException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/** One segment by frame, state and key group; of a damaged segment, the part before the damage. */
public final class SegmentReport implements Report {

    private final Path file;
    private final long length;
    private final RecordBreakdown breakdown;
    private final Optional<String> damage;
    private final BreakdownTables tables;

    private SegmentReport(
            Path file, long length, RecordBreakdown breakdown, Optional<String> damage, int top) {
        this.file = file;
        this.length = length;
        this.breakdown = breakdown;
        this.damage = damage;
        this.tables = new BreakdownTables(breakdown, top);
    }

    /**
     * Reads a segment.
     *
     * @param top maximum number of rows of each table in the text
     * @throws ToolException if the file is not a segment or cannot be read
     */
    public static SegmentReport of(FileAccess access, int top) throws ToolException {
        FileStatus status = access.status();
        Path file = access.path();
        RecordBreakdown breakdown = new RecordBreakdown();
        try {
            SegmentInspection.inspect(
                    file.toString(), access.fileSystem().open(file), status.getLen(), breakdown);
            return new SegmentReport(file, status.getLen(), breakdown, Optional.empty(), top);
        } catch (CorruptSegmentException e) {
            if (e.offset() == 0) {
                throw new ToolException(
                        String.format(
                                "%s is not a DSTL segment: expected %s, found %s.",
                                file, e.expected(), e.found()),
                        e);
            }
            return new SegmentReport(
                    file, status.getLen(), breakdown, Optional.of(Damage.text(e)), top);
        } catch (IOException | RuntimeException e) {
            throw FileAccess.unreadable(file, e);
        }
    }

    @Override
    public String text() {
        Table frames = FrameLine.table();
        for (FrameHeader frame : tables.first(breakdown.frames())) {
            FrameLine.addTo(frames, frame);
        }
        return String.format("segment    %s%n", file)
                + String.format(
                        "content    %s, frames: %d, records: %d, before compression: %s%n",
                        ByteSize.text(length),
                        breakdown.frames().size(),
                        breakdown.all().records(),
                        ByteSize.text(breakdown.all().bytes()))
                + String.format("checksums  %s%n", damage.orElse("all match"))
                + "\n"
                + frames.text()
                + tables.more(breakdown.frames().size())
                + "\n"
                + tables.states(false)
                + "\n"
                + tables.keyGroups();
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("segment", file.toString());
        json.put("bytes", length);
        json.put("intact", damage.isEmpty());
        json.put("damage", damage.orElse(null));
        json.put("records", breakdown.all().records());
        json.put("plainBytes", breakdown.all().bytes());
        json.put(
                "frames",
                breakdown.frames().stream().map(FrameLine::json).collect(Collectors.toList()));
        json.put("states", tables.statesJson());
        json.put("keyGroups", tables.keyGroupsJson());
        return json;
    }

    @Override
    public Optional<String> problem() {
        return damage.map(text -> String.format("Segment %s is damaged: %s.", file, text));
    }
}
