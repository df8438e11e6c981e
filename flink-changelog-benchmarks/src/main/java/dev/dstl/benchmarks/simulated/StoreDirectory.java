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

import dev.dstl.benchmarks.simulated.content.DirectoryContent;
import dev.dstl.benchmarks.simulated.content.ObjectContent;
import dev.dstl.benchmarks.simulated.store.MarkerFileOutageSwitch;
import dev.dstl.benchmarks.simulated.store.OutageSwitch;
import dev.dstl.benchmarks.simulated.store.RequestCounters;
import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Where the processes that share a store meet. A benchmark opens the same directory to read the
 * requests of all of them and to switch outages.
 *
 * <pre>
 *  &lt;sim.directory&gt;/&lt;authority&gt;/objects/...    visible objects, by key
 *                                /staging/...    bytes not yet visible
 *                                /requests/...   one counter file per process
 *                                /outage         FAILING or HANGING while it lasts
 * </pre>
 */
public final class StoreDirectory {

    private final Path directory;

    /**
     * Creates a directory.
     *
     * @param root value of {@code sim.directory}
     * @param authority authority of the store's URI
     */
    public StoreDirectory(Path root, String authority) {
        this.directory = root.toAbsolutePath().resolve(authority);
    }

    /** Returns the requests of all processes so far, including killed ones. */
    public RequestCounts counts() throws IOException {
        return RequestCounters.sumOf(directory.resolve("requests"));
    }

    /** Returns the switch of outages for all processes. */
    public OutageSwitch outage() {
        return new MarkerFileOutageSwitch(directory.resolve("outage"), StoreTime.SYSTEM);
    }

    ObjectContent content() throws IOException {
        return new DirectoryContent(directory.resolve("objects"), directory.resolve("staging"));
    }

    RequestCounters countersOfThisProcess() throws IOException {
        String name = ProcessHandle.current().pid() + "-" + UUID.randomUUID();
        return RequestCounters.mapped(directory.resolve("requests"), name);
    }
}
