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

package dev.dstl.benchmarks.workload.words;

import java.util.Locale;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.util.Collector;

/** Cuts a line into words: runs of letters and digits, in lower case. */
final class WordScanner implements FlatMapFunction<TextLine, Word> {

    private static final long serialVersionUID = 1L;

    @Override
    public void flatMap(TextLine line, Collector<Word> out) {
        String text = line.text;
        int start = -1;
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            boolean inWord = Character.isLetterOrDigit(codePoint);
            if (inWord && start < 0) {
                start = i;
            } else if (!inWord && start >= 0) {
                out.collect(new Word(lowerCase(text, start, i), line.offset));
                start = -1;
            }
            i += Character.charCount(codePoint);
        }
        if (start >= 0) {
            out.collect(new Word(lowerCase(text, start, text.length()), line.offset));
        }
    }

    private static String lowerCase(String text, int from, int to) {
        return text.substring(from, to).toLowerCase(Locale.ROOT);
    }
}
