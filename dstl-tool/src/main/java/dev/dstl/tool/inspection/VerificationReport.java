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

import dev.dstl.log.segment.FrameOrder;
import dev.dstl.tool.checkpoint.CheckpointContent;
import dev.dstl.tool.checkpoint.SubtaskLog;
import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.Table;
import dev.dstl.tool.output.ToolException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Whether every segment of a checkpoint exists and is intact, and every offset is that of a frame
 * that belongs there.
 */
public final class VerificationReport implements Report {

    private final CheckpointContent checkpoint;
    private final List<VerifiedSegment> segments;

    private VerificationReport(CheckpointContent checkpoint, List<VerifiedSegment> segments) {
        this.checkpoint = checkpoint;
        this.segments = segments;
    }

    /**
     * Reads every segment of a checkpoint once and completely.
     *
     * @throws ToolException if a changelog cannot be verified
     */
    public static VerificationReport of(CheckpointContent checkpoint) throws ToolException {
        checkpoint.requireOurs();
        List<String> foreign = checkpoint.foreignStorages();
        if (!foreign.isEmpty()) {
            throw new ToolException(
                    String.format(
                            "Checkpoint %s still needs changelogs of the storage '%s', which this tool"
                                    + " cannot verify; verify a checkpoint that was taken after the"
                                    + " next materialization.",
                            checkpoint.directory(), String.join("', '", foreign)));
        }
        Map<StreamStateHandle, Set<Long>> offsets = new LinkedHashMap<>();
        for (SubtaskLog log : checkpoint.logs()) {
            for (Tuple2<StreamStateHandle, Long> position : log.positions()) {
                offsets.computeIfAbsent(position.f0, segment -> new TreeSet<>()).add(position.f1);
            }
        }
        Map<StreamStateHandle, VerifiedSegment> segments = new LinkedHashMap<>();
        offsets.forEach(
                (segment, needed) ->
                        segments.put(segment, VerifiedSegment.verify(segment, needed)));
        for (SubtaskLog log : checkpoint.logs()) {
            FrameOrder order = new FrameOrder(log.keyGroups());
            for (Tuple2<StreamStateHandle, Long> position : log.positions()) {
                segments.get(position.f0).verifyPlace(position.f1, order);
            }
        }
        return new VerificationReport(checkpoint, new ArrayList<>(segments.values()));
    }

    private List<VerifiedSegment> damaged() {
        return segments.stream()
                .filter(segment -> segment.problem().isPresent())
                .collect(Collectors.toList());
    }

    @Override
    public String text() {
        List<VerifiedSegment> damaged = damaged();
        StringBuilder text = new StringBuilder();
        text.append(String.format("checkpoint  %s%n", checkpoint.directory()));
        text.append(String.format("id          %d%n", checkpoint.checkpointId()));
        text.append(
                String.format(
                        "segments    %d, %s, frames of this checkpoint: %d%n",
                        segments.size(),
                        ByteSize.text(segments.stream().mapToLong(VerifiedSegment::bytes).sum()),
                        segments.stream().mapToLong(VerifiedSegment::neededFrames).sum()));
        text.append(
                String.format(
                        "result      %s%n",
                        damaged.isEmpty()
                                ? "every segment is intact, every offset leads to a frame"
                                : "missing or damaged: " + damaged.size()));
        if (!damaged.isEmpty()) {
            Table table = new Table("segment", "problem");
            damaged.forEach(segment -> table.row(segment.name(), segment.problem().orElse("")));
            text.append('\n').append(table.text());
        }
        return text.toString();
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("checkpoint", checkpoint.directory().toString());
        json.put("checkpointId", checkpoint.checkpointId());
        json.put("intact", damaged().isEmpty());
        json.put(
                "segments",
                segments.stream().map(VerifiedSegment::json).collect(Collectors.toList()));
        return json;
    }

    @Override
    public Optional<String> problem() {
        List<VerifiedSegment> damaged = damaged();
        return damaged.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        String.format(
                                "%d of %d segments of checkpoint %s are missing or damaged; %s: %s.",
                                damaged.size(),
                                segments.size(),
                                checkpoint.directory(),
                                damaged.get(0).name(),
                                damaged.get(0).problem().orElse("")));
    }
}
