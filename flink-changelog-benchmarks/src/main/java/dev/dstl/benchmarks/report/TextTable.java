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

package dev.dstl.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A text table whose columns are as wide as their content: the first aligned to the left, the
 * others to the right. Rows may have fewer cells. Not thread-safe.
 */
public final class TextTable {

    private final String gap;
    private final List<List<String>> rows = new ArrayList<>();

    /**
     * Creates an empty table.
     *
     * @param gap text between two columns
     */
    public TextTable(String gap) {
        this.gap = gap;
    }

    /** Adds a row. */
    public void add(List<String> row) {
        rows.add(row);
    }

    /** Returns one line per row, without a line break at the end. */
    public String text() {
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                String padding = " ".repeat(width(column) - cell.length());
                line.append(column == 0 ? cell + padding : gap + padding + cell);
            }
            lines.add(line.toString().stripTrailing());
        }
        return String.join("\n", lines);
    }

    private int width(int column) {
        return rows.stream()
                .filter(row -> row.size() > column)
                .mapToInt(row -> row.get(column).length())
                .max()
                .orElse(0);
    }
}
