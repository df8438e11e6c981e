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

/** Flink's configuration, from which its file systems know endpoints and credentials. */
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
     * Makes the file systems of Flink and of its plugins known, as configured.
     *
     * @throws ParameterException if there is no configuration where it should be
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
     * What a Flink is configured with.
     *
     * @param itsDirectory where its configuration is, unless the command line says otherwise
     * @throws ParameterException if there is none
     */
    Configuration configuration(CommandLine command, Path itsDirectory) {
        if (configurationDirectory == null) {
            configurationDirectory = itsDirectory.toString();
        }
        return configuration(command);
    }

    private Configuration configuration(CommandLine command) {
        Configuration dynamic = Configuration.fromMap(properties);
        try {
            return configurationDirectory == null
                    ? GlobalConfiguration.loadConfiguration(dynamic)
                    : GlobalConfiguration.loadConfiguration(configurationDirectory, dynamic);
        } catch (IllegalConfigurationException e) {
            throw new ParameterException(command, FileAccess.firstLine(e), e);
        }
    }
}
