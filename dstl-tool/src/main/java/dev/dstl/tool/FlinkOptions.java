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

package dev.dstl.tool;

import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.ToolException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.PluginUtils;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * Options that locate Flink's configuration, which contains endpoints and credentials of file
 * systems.
 */
final class FlinkOptions {

    @Option(
            names = "--conf-dir",
            paramLabel = "DIR",
            description = "Flink's conf/ directory; FLINK_CONF_DIR if not given.")
    private String configurationDirectory;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description = "Sets a key of Flink's configuration, such as -Ds3.endpoint=...")
    private final Map<String, String> properties = new LinkedHashMap<>();

    /**
     * Sets up the file systems of Flink and of its plugins with their configuration.
     *
     * @throws ParameterException if the configuration directory has no configuration
     */
    void initializeFileSystems(CommandLine command) throws ToolException {
        Configuration configuration = configuration(command);
        try {
            FileSystem.initialize(
                    configuration, PluginUtils.createPluginManagerFromRootFolder(configuration));
        } catch (RuntimeException e) {
            throw new ToolException(
                    String.format(
                            "Flink's file systems cannot be set up: %s.", FileAccess.firstLine(e)),
                    e);
        }
    }

    /**
     * Reads Flink's configuration.
     *
     * @param itsDirectory configuration directory, unless the command line names another
     * @throws ParameterException if the directory that the command line names has no configuration
     * @throws ToolException if the configuration is missing or malformed
     */
    Configuration configuration(CommandLine command, Path itsDirectory) throws ToolException {
        if (configurationDirectory != null) {
            return configuration(command);
        }
        configurationDirectory = itsDirectory.toString();
        try {
            return configuration(command);
        } catch (ParameterException e) {
            throw new ToolException(e.getMessage(), e);
        }
    }

    private Configuration configuration(CommandLine command) throws ToolException {
        Configuration dynamic = Configuration.fromMap(properties);
        try {
            return configurationDirectory == null
                    ? GlobalConfiguration.loadConfiguration(dynamic)
                    : GlobalConfiguration.loadConfiguration(configurationDirectory, dynamic);
        } catch (IllegalConfigurationException e) {
            throw new ParameterException(command, FileAccess.firstLine(e), e);
        } catch (RuntimeException e) {
            throw new ToolException(
                    String.format(
                            "Flink's configuration%s cannot be read: %s.",
                            configurationDirectory == null ? "" : " in " + configurationDirectory,
                            rootMessage(e)),
                    e);
        }
    }

    /** The parser's message has several lines, of which the last ones say what is wrong where. */
    private static String rootMessage(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage()).replaceAll("\\s+", " ").strip();
    }
}
