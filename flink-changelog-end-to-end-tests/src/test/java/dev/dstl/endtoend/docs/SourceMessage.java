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

package dev.dstl.endtoend.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A text that the code prints: string literals that are joined with {@code +}, with {@link #GAP}
 * where a value is put in.
 */
final class SourceMessage {

    /** Stands for a value in messages and, written by hand, in pages. */
    static final String GAP = "\u2026";

    /** A literal, a character, a comment. */
    private static final Pattern TOKEN =
            Pattern.compile(
                    "\"((?:[^\"\\\\]|\\\\.)*)\"|'(?:[^'\\\\]|\\\\.)+'|//[^\\n]*|/\\*.*?\\*/",
                    Pattern.DOTALL);

    private static final Pattern JOINED = Pattern.compile("\\s*\\+\\s*");
    private static final Pattern JOINED_WITH_VALUE = Pattern.compile("\\s*\\+[^;{}]*\\+\\s*");
    private static final Pattern PLACEHOLDER = Pattern.compile("%[-,.0-9]*[sdx]|\\{}");

    private final String introduction;
    private final String text;

    private SourceMessage(String introduction, String text) {
        this.introduction = introduction;
        this.text = text;
    }

    /** All messages of a Java file. */
    static List<SourceMessage> in(String source) {
        List<SourceMessage> messages = new ArrayList<>();
        StringBuilder code = new StringBuilder();
        StringBuilder text = null;
        String introduction = "";
        int end = 0;
        Matcher token = TOKEN.matcher(source);
        while (token.find()) {
            code.append(source, end, token.start());
            end = token.end();
            if (token.group(1) == null) {
                continue;
            }
            if (text != null && JOINED.matcher(code).matches()) {
                text.append(token.group(1));
            } else if (text != null && JOINED_WITH_VALUE.matcher(code).matches()) {
                text.append(GAP).append(token.group(1));
            } else {
                if (text != null) {
                    messages.add(new SourceMessage(introduction, text.toString()));
                }
                introduction = code.substring(code.lastIndexOf(";") + 1);
                text = new StringBuilder(token.group(1));
            }
            code.setLength(0);
        }
        if (text != null) {
            messages.add(new SourceMessage(introduction, text.toString()));
        }
        return messages;
    }

    /** Source without comments and without the contents of literals. */
    static String codeOf(String source) {
        return TOKEN.matcher(source).replaceAll("\"\"");
    }

    /** What users see, with gaps. */
    String text() {
        return PLACEHOLDER.matcher(text).replaceAll(GAP).replace("%n", "").replace("\\\"", "\"");
    }

    /** Whether the statement that the message belongs to matches, up to the message. */
    boolean isIntroducedBy(Pattern statement) {
        return statement.matcher(introduction).find();
    }

    /** Whether {@code quote} is a part of the message; its gaps stand for anything. */
    boolean contains(String quote) {
        String pattern =
                Stream.of(quote.split(GAP, -1))
                        .map(Pattern::quote)
                        .collect(Collectors.joining(".*"));
        return Pattern.compile(pattern, Pattern.DOTALL).matcher(text()).find();
    }

    @Override
    public String toString() {
        return text();
    }
}
