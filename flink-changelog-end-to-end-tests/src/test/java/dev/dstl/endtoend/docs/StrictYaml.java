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

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.shaded.jackson2.org.yaml.snakeyaml.LoaderOptions;
import org.apache.flink.shaded.jackson2.org.yaml.snakeyaml.Yaml;

/** YAML in which a key occurs only once, as maps, lists and scalars. */
final class StrictYaml {

    private StrictYaml() {}

    /** The documents of {@code text}, each a map. */
    static List<Map<String, Object>> documents(String text) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        List<Map<String, Object>> documents = new ArrayList<>();
        for (Object document : new Yaml(options).loadAll(text)) {
            documents.add(map(document));
        }
        return documents;
    }

    /** The only document of {@code text}. */
    static Map<String, Object> document(String text) {
        List<Map<String, Object>> documents = documents(text);
        assertThat(documents).hasSize(1);
        return documents.get(0);
    }

    @SuppressWarnings("unchecked") // other keys than strings are not looked up
    static Map<String, Object> map(Object value) {
        assertThat(value).isInstanceOf(Map.class);
        return (Map<String, Object>) value;
    }

    static List<Map<String, Object>> maps(Object value) {
        return list(value).stream().map(StrictYaml::map).collect(toList());
    }

    static List<?> list(Object value) {
        assertThat(value).isInstanceOf(List.class);
        return (List<?>) value;
    }

    /** Every string that is a value below {@code value}, however deep. */
    static Stream<String> strings(Object value) {
        if (value instanceof Map) {
            return ((Map<?, ?>) value).values().stream().flatMap(StrictYaml::strings);
        }
        if (value instanceof List) {
            return ((List<?>) value).stream().flatMap(StrictYaml::strings);
        }
        return value instanceof String ? Stream.of((String) value) : Stream.empty();
    }
}
