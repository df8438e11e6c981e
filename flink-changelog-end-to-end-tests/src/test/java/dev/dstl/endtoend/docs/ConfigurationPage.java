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

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.FallbackKey;
import org.apache.flink.configuration.description.HtmlFormatter;
import org.apache.flink.util.TimeUtils;

/** Renders the public options of the given classes as the page that users read. */
final class ConfigurationPage {

    private final StringBuilder page = new StringBuilder();

    ConfigurationPage(String title, String introduction) {
        page.append("# ").append(title).append("\n\n").append(introduction).append("\n");
    }

    /** Adds a section with every public {@link ConfigOption} constant of a class, by key. */
    ConfigurationPage section(String heading, String introduction, Class<?> options) {
        return section(heading, introduction, options, ConfigurationPage::descriptionOf);
    }

    /** As above, with other descriptions than those of the options. */
    ConfigurationPage section(
            String heading,
            String introduction,
            Class<?> options,
            Function<ConfigOption<?>, String> descriptions) {
        page.append("\n## ").append(heading).append("\n\n").append(introduction).append("\n\n");
        page.append("| key | default | what it does |\n|---|---|---|\n");
        for (ConfigOption<?> option : optionsOf(options)) {
            page.append("| `").append(option.key()).append("`");
            String formerly = formerKeys(option);
            if (!formerly.isEmpty()) {
                page.append("<br>also ").append(formerly);
            }
            page.append(" | ").append(defaultOf(option)).append(" | ");
            page.append(descriptions.apply(option)).append(" |\n");
        }
        return this;
    }

    String text() {
        return page.toString();
    }

    static List<ConfigOption<?>> optionsOf(Class<?> options) {
        List<ConfigOption<?>> found = new ArrayList<>();
        for (Field field : options.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == ConfigOption.class) {
                try {
                    found.add((ConfigOption<?>) field.get(null));
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException("Cannot read " + field, e);
                }
            }
        }
        found.sort(Comparator.comparing(ConfigOption::key));
        return found;
    }

    private static String formerKeys(ConfigOption<?> option) {
        return StreamSupport.stream(option.fallbackKeys().spliterator(), false)
                .map(FallbackKey::getKey)
                .map(key -> "`" + key + "`")
                .collect(Collectors.joining(", "));
    }

    private static String defaultOf(ConfigOption<?> option) {
        Object value = option.defaultValue();
        if (value == null) {
            return "(none)";
        }
        if (value instanceof Duration) {
            return "`" + TimeUtils.formatWithHighestUnit((Duration) value) + "`";
        }
        return "`" + value + "`";
    }

    static String descriptionOf(ConfigOption<?> option) {
        return new HtmlFormatter()
                .format(option.description())
                .replaceAll("\\s*\\n\\s*", " ")
                .replace("|", "\\|");
    }
}
