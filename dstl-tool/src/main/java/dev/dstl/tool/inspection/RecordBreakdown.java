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
import dev.dstl.log.segment.FrameHeader;
import dev.dstl.log.segment.SegmentVisitor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Counts records and bytes by frame, state and key group. Not thread-safe. */
final class RecordBreakdown implements SegmentVisitor {

    private final List<FrameHeader> frames = new ArrayList<>();
    private final Map<String, Map<UUID, LogStates>> logs = new HashMap<>();
    private final Map<Integer, Totals> keyGroups = new TreeMap<>();
    private final Totals all = new Totals();

    private String owner = "";
    private FrameHeader frame;
    private LogStates states;

    /** Sets the operator of the following records. */
    void startOwner(String operator) {
        owner = operator;
        frame = null;
    }

    /** Adds a frame, even if none of its records will be read. */
    void startFrame(FrameHeader started) {
        if (started != frame) {
            frame = started;
            frames.add(started);
            states =
                    logs.computeIfAbsent(owner, key -> new HashMap<>())
                            .computeIfAbsent(started.logId(), id -> new LogStates(owner, id));
        }
    }

    @Override
    public void visit(FrameHeader of, LogRecord record) {
        startFrame(of);
        states.add(record);
        all.add(record.length());
        if (record.keyGroup() >= 0) {
            keyGroups
                    .computeIfAbsent(record.keyGroup(), group -> new Totals())
                    .add(record.length());
        }
    }

    /** Returns the frames in the order in which they were added. */
    List<FrameHeader> frames() {
        return Collections.unmodifiableList(frames);
    }

    Totals all() {
        return all;
    }

    /**
     * Returns the states by size, largest first; the same state of all changelogs of an operator
     * counts as one.
     */
    List<StateShare> statesByBytes() {
        Map<List<String>, StateShare> byIdentity = new LinkedHashMap<>();
        for (Map<UUID, LogStates> ofOwner : logs.values()) {
            for (LogStates log : ofOwner.values()) {
                for (StateShare share : log.shares()) {
                    StateShare known = byIdentity.putIfAbsent(share.identity(), share);
                    if (known != null) {
                        known.add(share);
                    }
                }
            }
        }
        List<StateShare> shares = new ArrayList<>(byIdentity.values());
        shares.sort(
                Comparator.comparingLong(StateShare::bytes)
                        .reversed()
                        .thenComparing(share -> share.identity().toString()));
        return shares;
    }

    /** Returns the totals of key groups that have records, ascending. */
    Map<Integer, Totals> keyGroups() {
        return Collections.unmodifiableMap(keyGroups);
    }
}
