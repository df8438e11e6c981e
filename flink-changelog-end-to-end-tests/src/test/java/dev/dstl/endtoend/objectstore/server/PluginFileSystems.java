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

package dev.dstl.endtoend.objectstore.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.plugin.DefaultPluginManager;
import org.apache.flink.core.plugin.DirectoryBasedPluginFinder;
import org.apache.flink.core.plugin.PluginDescriptor;
import org.apache.flink.core.plugin.PluginManager;

/**
 * Flink's file systems in this JVM, plugins included, each plugin in a class loader of its own as
 * in a cluster. There is one set of file systems per JVM, so it must be restored after use.
 */
public final class PluginFileSystems {

    /** Loaded once, since each load needs more metaspace. */
    private static PluginManager plugins;

    private PluginFileSystems() {}

    /** Returns the plugins directory: that of the build, unless a property names another. */
    public static Path directory() {
        return Paths.get(System.getProperty("plugins.directory", "target/plugins"))
                .toAbsolutePath();
    }

    /** Initializes Flink's file systems with the plugins and a configuration. */
    public static synchronized void use(Configuration configuration) throws IOException {
        if (plugins == null) {
            plugins =
                    new DefaultPluginManager(
                            found(),
                            CoreOptions.getPluginParentFirstLoaderPatterns(new Configuration()));
        }
        FileSystem.initialize(configuration, plugins);
    }

    /** Initializes Flink's file systems without plugins. */
    public static void reset() {
        FileSystem.initialize(new Configuration(), null);
    }

    private static List<PluginDescriptor> found() throws IOException {
        assertThat(directory())
                .as("the S3 plugin, which ./mvnw process-test-resources puts there")
                .isDirectory();
        return List.copyOf(new DirectoryBasedPluginFinder(directory()).findPlugins());
    }
}
