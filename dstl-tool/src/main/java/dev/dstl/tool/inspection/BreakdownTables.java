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

import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Tables that reports about segments and checkpoints have in common. */
final class BreakdownTables {

    private final RecordBreakdown breakdown;
    private final int top;

    /**
     * Creates tables.
     *
     * @param top maximum number of rows of a table
     */
    BreakdownTables(RecordBreakdown breakdown, int top) {
        this.breakdown = breakdown;
        this.top = top;
    }

    String states(boolean withOwner) {
        Table table =
                withOwner
                        ? new Table("state", "kind", "operator", ">records", ">bytes", ">share")
                        : new Table("state", "kind", ">records", ">bytes", ">share");
        List<StateShare> shares = breakdown.statesByBytes();
        for (StateShare share : first(shares)) {
            List<Object> cells = new ArrayList<>();
            cells.add(share.name());
            cells.add(share.kind().toLowerCase(Locale.ROOT));
            if (withOwner) {
                cells.add(share.owner());
            }
            cells.add(share.records());
            cells.add(ByteSize.text(share.bytes()));
            cells.add(percent(share.bytes()));
            table.row(cells.toArray());
        }
        return table.text() + more(shares.size());
    }

    String keyGroups() {
        Table table = new Table(">key group", ">records", ">bytes", ">share");
        List<Map.Entry<Integer, Totals>> groups = new ArrayList<>(breakdown.keyGroups().entrySet());
        groups.sort(
                Comparator.comparingLong(
                                (Map.Entry<Integer, Totals> entry) -> entry.getValue().bytes())
                        .reversed());
        for (Map.Entry<Integer, Totals> group : first(groups)) {
            table.row(
                    group.getKey(),
                    group.getValue().records(),
                    ByteSize.text(group.getValue().bytes()),
                    percent(group.getValue().bytes()));
        }
        return table.text() + more(groups.size());
    }

    List<Object> statesJson() {
        List<Object> states = new ArrayList<>();
        for (StateShare share : breakdown.statesByBytes()) {
            Map<String, Object> state = new LinkedHashMap<>();
            state.put("name", share.name());
            state.put("kind", share.kind().isEmpty() ? null : share.kind());
            state.put("operatorId", share.owner().isEmpty() ? null : share.owner());
            state.put("records", share.records());
            state.put("plainBytes", share.bytes());
            states.add(state);
        }
        return states;
    }

    List<Object> keyGroupsJson() {
        List<Object> groups = new ArrayList<>();
        breakdown
                .keyGroups()
                .forEach(
                        (number, totals) -> {
                            Map<String, Object> group = new LinkedHashMap<>();
                            group.put("keyGroup", number);
                            group.put("records", totals.records());
                            group.put("plainBytes", totals.bytes());
                            groups.add(group);
                        });
        return groups;
    }

    <T> List<T> first(List<T> rows) {
        return rows.subList(0, Math.min(top, rows.size()));
    }

    String more(int rows) {
        return rows > top ? String.format("... and %d more (--top)\n", rows - top) : "";
    }

    private String percent(long bytes) {
        long all = Math.max(1, breakdown.all().bytes());
        return String.format(Locale.ROOT, "%.1f %%", 100.0 * bytes / all);
    }
}
