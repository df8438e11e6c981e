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

import dev.dstl.changelog.record.RegisteredName;
import dev.dstl.changelog.record.StateRegistration;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.core.memory.DataInputDeserializer;

/**
 * The states of one changelog by state id, which is unique within a changelog only. The
 * registration of a state may come after its records, if the frames start in the middle of a range.
 * Not thread-safe.
 */
final class LogStates {

    /** Stands for the records of another state backend, whose states cannot be named. */
    private static final int OPAQUE = -1;

    private final String owner;
    private final UUID logId;
    private final Map<Integer, Totals> totals = new HashMap<>();
    private final Map<Integer, RegisteredName> names = new HashMap<>();

    /**
     * Creates an empty set.
     *
     * @param owner name of the operator, empty if unknown
     */
    LogStates(String owner, UUID logId) {
        this.owner = owner;
        this.logId = logId;
    }

    void add(LogRecord record) {
        int state = record.kind() == RecordKind.OPAQUE ? OPAQUE : record.stateId();
        totals.computeIfAbsent(state, id -> new Totals()).add(record.length());
        if (record.kind() == RecordKind.META) {
            try {
                names.put(
                        state,
                        StateRegistration.readName(
                                new DataInputDeserializer(
                                        record.buffer(),
                                        record.payloadOffset(),
                                        record.payloadLength())));
            } catch (IOException e) {
                // Shown under its number: a segment can be inspected without its job.
                names.remove(state);
            }
        }
    }

    List<StateShare> shares() {
        List<StateShare> shares = new ArrayList<>();
        totals.forEach(
                (state, total) -> {
                    RegisteredName name = names.get(state);
                    shares.add(
                            name == null
                                    ? new StateShare(owner, unnamed(state), "", total)
                                    : new StateShare(
                                            owner, name.name(), name.kind().toString(), total));
                });
        return shares;
    }

    private String unnamed(int state) {
        return state == OPAQUE
                ? "(records of another changelog backend)"
                : String.format(
                        "(state %d of changelog %s, named elsewhere)",
                        state, FrameLine.shortName(logId));
    }
}
