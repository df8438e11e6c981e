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

package dev.dstl.tool.output;

import java.util.ArrayList;
import java.util.List;

/** A text table whose columns are as wide as their content. Not thread-safe. */
public final class Table {

    private static final String GAP = "  ";

    private final List<String[]> rows = new ArrayList<>();
    private final boolean[] toTheRight;

    /**
     * Creates an empty table.
     *
     * @param columns headers; a column whose header starts with {@code >} is aligned to the right,
     *     for numbers
     */
    public Table(String... columns) {
        String[] header = new String[columns.length];
        toTheRight = new boolean[columns.length];
        for (int i = 0; i < columns.length; i++) {
            toTheRight[i] = columns[i].startsWith(">");
            header[i] = toTheRight[i] ? columns[i].substring(1) : columns[i];
        }
        rows.add(header);
    }

    /** Adds a row with one cell per column. */
    public Table row(Object... cells) {
        if (cells.length != toTheRight.length) {
            throw new IllegalArgumentException(
                    "A row needs " + toTheRight.length + " cells, found " + cells.length);
        }
        String[] row = new String[cells.length];
        for (int i = 0; i < cells.length; i++) {
            row[i] = String.valueOf(cells[i]);
        }
        rows.add(row);
        return this;
    }

    /** Returns the table; ends with a line break. */
    public String text() {
        int[] widths = new int[toTheRight.length];
        for (String[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.length; i++) {
                String padding = " ".repeat(widths[i] - row[i].length());
                line.append(i == 0 ? "" : GAP)
                        .append(toTheRight[i] ? padding + row[i] : row[i] + padding);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
