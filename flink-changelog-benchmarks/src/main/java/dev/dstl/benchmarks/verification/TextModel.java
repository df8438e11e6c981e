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

package dev.dstl.benchmarks.verification;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rows of the text workload, from the file read once from beginning to end. */
public final class TextModel implements ResultModel {

    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{Nd}]+");

    private final Path file;
    private final long windowBytes;

    /**
     * Creates a model of a text file.
     *
     * @param windowBytes length of the windows in bytes
     */
    public TextModel(Path file, long windowBytes) {
        this.file = file;
        this.windowBytes = windowBytes;
    }

    @Override
    public Map<String, String> expectedRows() throws IOException {
        Map<String, SortedMap<Long, Long>> countsByLine = new HashMap<>();
        long lineStart = 0;
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            byte[] line = new byte[1024];
            int length = 0;
            for (int next = in.read(); next >= 0; next = in.read()) {
                if (next == '\n') {
                    count(line, length, lineStart, countsByLine);
                    lineStart += length + 1;
                    length = 0;
                } else {
                    if (length == line.length) {
                        line = Arrays.copyOf(line, 2 * length);
                    }
                    line[length++] = (byte) next;
                }
            }
            count(line, length, lineStart, countsByLine);
        }
        Map<String, String> rows = new HashMap<>();
        countsByLine.forEach((word, lines) -> addRows(word, lines, rows));
        return rows;
    }

    private static void count(
            byte[] line, int length, long lineStart, Map<String, SortedMap<Long, Long>> counts) {
        CharSequence text = StandardCharsets.UTF_8.decode(ByteBuffer.wrap(line, 0, length));
        for (Matcher words = WORD.matcher(text); words.find(); ) {
            counts.computeIfAbsent(words.group().toLowerCase(Locale.ROOT), none -> new TreeMap<>())
                    .merge(lineStart, 1L, Long::sum);
        }
    }

    private void addRows(String word, SortedMap<Long, Long> lines, Map<String, String> rows) {
        SortedMap<Long, Long> windows = new TreeMap<>();
        lines.forEach((offset, count) -> windows.merge(offset / windowBytes, count, Long::sum));
        windows.forEach(
                (window, count) -> rows.put("window " + window + " " + word, "count=" + count));
        rows.put(
                "word " + word,
                String.format(
                        Locale.ROOT,
                        "count=%d windows=%d greatest=%d first=%d last=%d",
                        lines.values().stream().mapToLong(count -> count).sum(),
                        windows.size(),
                        windows.values().stream().mapToLong(count -> count).max().orElse(0),
                        lines.firstKey(),
                        lines.lastKey()));
    }
}
