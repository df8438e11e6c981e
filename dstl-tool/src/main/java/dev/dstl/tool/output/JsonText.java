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

import java.util.Iterator;
import java.util.Map;

/** Writes JSON. Flink's own JSON library is shaded under a name that changes with releases. */
public final class JsonText {

    private static final String INDENT = "  ";

    private final StringBuilder text = new StringBuilder();

    private JsonText() {}

    /**
     * Returns the JSON of a value; ends with a line break.
     *
     * @param value consists of maps with string keys, iterables, strings, integral numbers,
     *     booleans and null
     */
    public static String of(Object value) {
        JsonText json = new JsonText();
        json.append(value, "");
        return json.text.append('\n').toString();
    }

    private void append(Object value, String indent) {
        if (value instanceof Map) {
            Iterator<? extends Map.Entry<?, ?>> entries = ((Map<?, ?>) value).entrySet().iterator();
            text.append('{');
            while (entries.hasNext()) {
                Map.Entry<?, ?> entry = entries.next();
                text.append('\n').append(indent).append(INDENT);
                appendString(entry.getKey().toString());
                text.append(": ");
                append(entry.getValue(), indent + INDENT);
                text.append(entries.hasNext() ? "," : "\n" + indent);
            }
            text.append('}');
        } else if (value instanceof Iterable) {
            Iterator<?> elements = ((Iterable<?>) value).iterator();
            text.append('[');
            while (elements.hasNext()) {
                text.append('\n').append(indent).append(INDENT);
                append(elements.next(), indent + INDENT);
                text.append(elements.hasNext() ? "," : "\n" + indent);
            }
            text.append(']');
        } else if (value == null
                || value instanceof Boolean
                || value instanceof Integer
                || value instanceof Long) {
            text.append(value);
        } else {
            appendString(value.toString());
        }
    }

    private void appendString(String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            char character = string.charAt(i);
            if (character == '"' || character == '\\') {
                text.append('\\').append(character);
            } else if (character < ' ' || Character.isSurrogate(character)) {
                text.append(String.format("\\u%04x", (int) character));
            } else {
                text.append(character);
            }
        }
        text.append('"');
    }
}
