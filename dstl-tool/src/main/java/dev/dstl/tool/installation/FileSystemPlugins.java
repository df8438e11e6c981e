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

package dev.dstl.tool.installation;

import static org.apache.flink.configuration.CoreOptions.ALLOWED_FALLBACK_FILESYSTEMS;

import dev.dstl.log.config.DstlOptions;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.plugin.DefaultPluginManager;
import org.apache.flink.core.plugin.DirectoryBasedPluginFinder;
import org.apache.flink.core.plugin.PluginDescriptor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds directories of the configuration whose file system would have to come from a plugin that is
 * missing. Flink also finds file systems in lib/, and uses Hadoop's for the schemes of its plugins
 * only where the configuration allows it.
 */
final class FileSystemPlugins {

    private static final Logger LOG = LoggerFactory.getLogger(FileSystemPlugins.class);

    /** Scheme to the jars of Flink's opt/ that contain its file system. */
    private static final Map<String, String> PLUGINS =
            Map.of(
                    "s3", "flink-s3-fs-presto or flink-s3-fs-hadoop",
                    "s3p", "flink-s3-fs-presto",
                    "s3a", "flink-s3-fs-hadoop",
                    "gs", "flink-gs-fs-hadoop",
                    "oss", "flink-oss-fs-hadoop",
                    "abfs", "flink-azure-fs-hadoop",
                    "abfss", "flink-azure-fs-hadoop",
                    "wasb", "flink-azure-fs-hadoop",
                    "wasbs", "flink-azure-fs-hadoop");

    private static final List<ConfigOption<String>> DIRECTORIES =
            List.of(
                    DstlOptions.BASE_PATH,
                    CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                    CheckpointingOptions.SAVEPOINT_DIRECTORY);

    /** Variable of Flink's images, whose entry point copies the plugins that it names. */
    private static final String BUILT_IN_PLUGINS = "ENABLE_BUILT_IN_PLUGINS";

    private static final String HADOOP_CLASS_PATH = "HADOOP_CLASSPATH";

    private final Path plugins;
    private final List<InstalledJar> lib;
    private final Map<String, String> environment;

    /**
     * @param plugins need not exist
     * @param environment variables of the process
     */
    FileSystemPlugins(Path plugins, List<InstalledJar> lib, Map<String, String> environment) {
        this.plugins = plugins;
        this.lib = lib;
        this.environment = environment;
    }

    /**
     * Returns what is wrong with the first directory without a file system, as a sentence for the
     * user; empty if there is none, or if the plugins cannot be read.
     */
    Optional<String> missing(Configuration configuration) {
        if (environment.containsKey(BUILT_IN_PLUGINS)) {
            return Optional.empty();
        }
        List<ConfigOption<String>> ofPlugins =
                DIRECTORIES.stream()
                        .filter(option -> needsPlugin(configuration, scheme(configuration, option)))
                        .collect(Collectors.toList());
        if (ofPlugins.isEmpty()) {
            return Optional.empty();
        }
        return schemes(configuration)
                .flatMap(
                        schemes ->
                                ofPlugins.stream()
                                        .filter(
                                                option ->
                                                        !schemes.contains(
                                                                scheme(configuration, option)))
                                        .findFirst())
                .map(option -> problem(configuration, option));
    }

    private boolean needsPlugin(Configuration configuration, String scheme) {
        return PLUGINS.containsKey(scheme)
                && !(hasHadoop() && mayBeOfHadoop(configuration, scheme));
    }

    private boolean hasHadoop() {
        return !environment.getOrDefault(HADOOP_CLASS_PATH, "").isEmpty()
                || lib.stream().anyMatch(InstalledJar::hasHadoop);
    }

    private static boolean mayBeOfHadoop(Configuration configuration, String scheme) {
        return Arrays.stream(configuration.get(ALLOWED_FALLBACK_FILESYSTEMS).split(";"))
                .anyMatch(allowed -> allowed.strip().equals(scheme));
    }

    private String problem(Configuration configuration, ConfigOption<String> option) {
        String scheme = scheme(configuration, option);
        return String.format(
                "'%s' is '%s', but no plugin in %s has a file system for '%s'; copy %s from opt/"
                        + " into a directory below it, on every machine, or name its file in %s of"
                        + " the image.%s",
                option.key(),
                configuration.get(option),
                plugins,
                scheme,
                PLUGINS.get(scheme),
                BUILT_IN_PLUGINS,
                aboutHadoop(configuration, scheme));
    }

    private String aboutHadoop(Configuration configuration, String scheme) {
        String key = ALLOWED_FALLBACK_FILESYSTEMS.key();
        if (mayBeOfHadoop(configuration, scheme)) {
            return String.format(
                    " '%s' allows Hadoop's file system, but Hadoop is neither in lib/ nor in %s.",
                    key, HADOOP_CLASS_PATH);
        }
        return hasHadoop()
                ? String.format(
                        " Flink uses Hadoop's file system only if '%s' contains '%s'.", key, scheme)
                : "";
    }

    private static String scheme(Configuration configuration, ConfigOption<String> option) {
        String directory = configuration.getOptional(option).orElse("");
        return directory.substring(0, Math.max(0, directory.indexOf(':'))).toLowerCase(Locale.ROOT);
    }

    /** Returns the schemes of all plugins and of lib/; empty if one of them cannot be loaded. */
    private Optional<Set<String>> schemes(Configuration configuration) {
        Set<String> schemes = new HashSet<>();
        try {
            List<PluginDescriptor> places = new ArrayList<>();
            if (Files.isDirectory(plugins)) {
                places.addAll(new DirectoryBasedPluginFinder(plugins).findPlugins());
            }
            if (lib.stream().anyMatch(InstalledJar::hasFileSystems)) {
                places.add(allOfLib());
            }
            Iterator<FileSystemFactory> factories =
                    new DefaultPluginManager(
                                    places,
                                    CoreOptions.getPluginParentFirstLoaderPatterns(configuration))
                            .load(FileSystemFactory.class);
            factories.forEachRemaining(factory -> schemes.add(factory.getScheme()));
            return Optional.of(schemes);
        } catch (IOException | RuntimeException | LinkageError | ServiceConfigurationError e) {
            LOG.debug("The file systems in {} or lib/ cannot be loaded", plugins, e);
            return Optional.empty();
        }
    }

    /** A plugin of the jars in lib/: the class path of this process may be of another Flink. */
    private PluginDescriptor allOfLib() throws IOException {
        URL[] jars = new URL[lib.size()];
        for (int i = 0; i < jars.length; i++) {
            jars[i] = lib.get(i).path().toUri().toURL();
        }
        return new PluginDescriptor("lib", jars, new String[0]);
    }
}
