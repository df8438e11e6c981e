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

package dev.dstl.benchmarks.simulated;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;

/** The main class of a process that writes one object: directory of the store, path. */
final class StoreWriterProcess {

    private StoreWriterProcess() {}

    public static void main(String[] args) throws IOException {
        Configuration configuration = new Configuration();
        configuration.setString("sim.directory", args[0]);
        FileSystem.initialize(configuration, null);
        Path file = new Path(args[1]);
        try (FSDataOutputStream out = file.getFileSystem().create(file, WriteMode.OVERWRITE)) {
            out.write("from another process".getBytes(StandardCharsets.UTF_8));
        }
        // Ends without any clean-up, as a killed process would: the counts must be there anyway.
        Runtime.getRuntime().halt(0);
    }
}
