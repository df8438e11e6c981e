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

import dev.dstl.changelog.config.ChangelogBackendOptions;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.spillable.config.SpillableOptions;
import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.FallbackKey;
import org.apache.flink.contrib.streaming.state.RocksDBOptions;

/** Every key that Flink or DSTL knows. */
final class FlinkKeys {

    private static final Pattern OPTIONS =
            Pattern.compile("org/apache/flink/configuration/\\w+Options\\.class");

    /** Keys with a part that users choose, and keys that file system plugins pass on. */
    private static final List<Pattern> FAMILIES =
            List.of(
                    Pattern.compile("metrics\\.reporter\\.\\w+\\.(factory\\.class|port)"),
                    Pattern.compile("(s3|presto\\.s3|fs\\.s3a|fs\\.hdfs)\\.[-a-z.]+"));

    private final Map<String, ConfigOption<?>> options = new HashMap<>();

    FlinkKeys() throws IOException, ReflectiveOperationException {
        add(DstlOptions.class);
        add(ChangelogBackendOptions.class);
        add(SpillableOptions.class);
        add(RocksDBOptions.class);
        File core =
                new File(
                        CheckpointingOptions.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath());
        try (JarFile jar = new JarFile(core)) {
            for (String entry :
                    jar.stream()
                            .map(Object::toString)
                            .filter(name -> OPTIONS.matcher(name).matches())
                            .collect(toList())) {
                String type = entry.replace('/', '.').substring(0, entry.length() - 6);
                add(Class.forName(type));
            }
        }
    }

    private void add(Class<?> type) {
        for (ConfigOption<?> option : ConfigurationPage.optionsOf(type)) {
            options.put(option.key(), option);
            for (FallbackKey key : option.fallbackKeys()) {
                options.put(key.getKey(), option);
            }
        }
    }

    boolean isKnown(String key) {
        return options.containsKey(key)
                || FAMILIES.stream().anyMatch(family -> family.matcher(key).matches());
    }

    /** Whether keys begin with {@code prefix}. */
    boolean isPrefix(String prefix) {
        return options.keySet().stream().anyMatch(key -> key.startsWith(prefix));
    }

    Optional<ConfigOption<?>> option(String key) {
        return Optional.ofNullable(options.get(key));
    }
}
