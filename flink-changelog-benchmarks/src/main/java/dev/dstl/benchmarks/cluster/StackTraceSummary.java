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

package dev.dstl.benchmarks.cluster;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Summarizes a stack trace: the root cause first, then the exceptions that it caused, without
 * frames and without wrappers that only repeat a message.
 */
final class StackTraceSummary {

    private static final Pattern CAUSE = Pattern.compile("^\\s*Caused by: (.*)$");
    private static final Pattern SERVER_SIDE = Pattern.compile(".*<Exception on server side:$");
    private static final Pattern FRAME = Pattern.compile("^\\s*(at |\\.\\.\\. )");

    private StackTraceSummary() {}

    static String of(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text, true));
        return of(text.toString());
    }

    static String of(String stackTrace) {
        List<String> lines =
                stackTrace
                        .lines()
                        .filter(line -> !FRAME.matcher(line).find())
                        .filter(line -> !SERVER_SIDE.matcher(line).matches())
                        .map(String::trim)
                        .filter(line -> !line.isEmpty())
                        .collect(Collectors.toList());
        if (lines.isEmpty()) {
            return "(no message)";
        }
        Deque<String> innermostFirst = new ArrayDeque<>();
        innermostFirst.push(lines.get(0));
        for (String line : lines) {
            Matcher cause = CAUSE.matcher(line);
            if (cause.matches()) {
                if (innermostFirst.element().endsWith(cause.group(1))) {
                    innermostFirst.pop();
                }
                innermostFirst.push(cause.group(1));
            }
        }
        return String.join("\n  in: ", innermostFirst);
    }
}
