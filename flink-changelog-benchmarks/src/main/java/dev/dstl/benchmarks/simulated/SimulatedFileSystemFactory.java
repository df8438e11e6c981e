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
import java.net.URI;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;

/** Registers {@code sim://<authority>/} with Flink, in every process that has this jar. */
public final class SimulatedFileSystemFactory implements FileSystemFactory {

    private static final String SCHEME = "sim";

    private Configuration configuration = new Configuration();

    static URI uri(String authority) {
        return URI.create(SCHEME + "://" + authority + "/");
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    @Override
    public void configure(Configuration config) {
        configuration = config;
    }

    @Override
    public FileSystem create(URI fsUri) throws IOException {
        String authority = fsUri.getAuthority();
        if (authority == null) {
            throw new IOException(
                    "No store named in " + fsUri + "; write sim://<name of the store>/<path>");
        }
        return new SimulatedFileSystem(
                uri(authority), SimulatedStores.of(authority, configuration));
    }
}
