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

import dev.dstl.tool.checkpoint.CheckpointContent;
import dev.dstl.tool.checkpoint.SubtaskLog;
import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Report;
import dev.dstl.tool.output.Table;
import dev.dstl.tool.output.ToolException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The changelog of a checkpoint as a restore would read it, by subtask, state and key group. */
public final class CheckpointReport implements Report {

    private final CheckpointContent checkpoint;
    private final RecordBreakdown breakdown;
    private final List<SubtaskLine> subtasks;
    private final BreakdownTables tables;

    private CheckpointReport(
            CheckpointContent checkpoint,
            RecordBreakdown breakdown,
            List<SubtaskLine> subtasks,
            int top) {
        this.checkpoint = checkpoint;
        this.breakdown = breakdown;
        this.subtasks = subtasks;
        this.tables = new BreakdownTables(breakdown, top);
    }

    /**
     * Reads the changelog of a checkpoint.
     *
     * @param top maximum number of rows of each table in the text
     * @throws ToolException if the checkpoint has no changelog of DSTL
     */
    public static CheckpointReport of(CheckpointContent checkpoint, int top) throws ToolException {
        checkpoint.requireOurs();
        RecordBreakdown breakdown = new RecordBreakdown();
        List<SubtaskLine> subtasks = new ArrayList<>();
        for (SubtaskLog log : checkpoint.logs()) {
            if (log.isDstl()) {
                subtasks.add(SubtaskLine.read(log, breakdown));
            }
        }
        return new CheckpointReport(checkpoint, breakdown, subtasks, top);
    }

    private List<String> problems() {
        List<String> problems = new ArrayList<>();
        for (SubtaskLine subtask : subtasks) {
            subtask.problem().ifPresent(problems::add);
        }
        return problems;
    }

    private int segmentCount() {
        Set<String> segments = new LinkedHashSet<>();
        subtasks.forEach(subtask -> segments.addAll(subtask.segments()));
        return segments.size();
    }

    @Override
    public String text() {
        Table table = SubtaskLine.table();
        for (SubtaskLine subtask : tables.first(subtasks)) {
            subtask.addTo(table);
        }
        List<String> problems = problems();
        List<String> foreign = checkpoint.foreignStorages();
        return String.format("checkpoint  %s%n", checkpoint.directory())
                + String.format("id          %d%n", checkpoint.checkpointId())
                + String.format(
                        "base        %s (not read)%n", ByteSize.text(checkpoint.baseBytes()))
                + String.format(
                        "changelog   segments: %d, frames: %d, records: %d,"
                                + " before compression: %s%n",
                        segmentCount(),
                        breakdown.frames().size(),
                        breakdown.all().records(),
                        ByteSize.text(breakdown.all().bytes()))
                + (foreign.isEmpty()
                        ? ""
                        : String.format(
                                "not read    changelogs of the storage '%s'%n",
                                String.join("', '", foreign)))
                + String.format(
                        "checksums   %s%n",
                        problems.isEmpty() ? "all match" : String.join("; ", problems))
                + "\n"
                + table.text()
                + tables.more(subtasks.size())
                + "\n"
                + tables.states(true)
                + "\n"
                + tables.keyGroups();
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("checkpoint", checkpoint.directory().toString());
        json.put("checkpointId", checkpoint.checkpointId());
        json.put("baseBytes", checkpoint.baseBytes());
        json.put("intact", problems().isEmpty());
        json.put("damage", problems());
        json.put("foreignStorages", checkpoint.foreignStorages());
        json.put("segments", segmentCount());
        json.put("frames", breakdown.frames().size());
        json.put("records", breakdown.all().records());
        json.put("plainBytes", breakdown.all().bytes());
        List<Object> logs = new ArrayList<>();
        subtasks.forEach(subtask -> logs.add(subtask.json()));
        json.put("changelogs", logs);
        json.put("states", tables.statesJson());
        json.put("keyGroups", tables.keyGroupsJson());
        return json;
    }

    @Override
    public Optional<String> problem() {
        List<String> problems = problems();
        return problems.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        String.format(
                                "%d of %d changelogs of checkpoint %s cannot be read completely: %s.",
                                problems.size(),
                                subtasks.size(),
                                checkpoint.directory(),
                                problems.get(0)));
    }
}
