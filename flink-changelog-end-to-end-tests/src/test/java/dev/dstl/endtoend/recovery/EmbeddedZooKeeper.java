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

package dev.dstl.endtoend.recovery;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HighAvailabilityOptions;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.flink.shaded.zookeeper3.org.apache.zookeeper.server.ZooKeeperServer;

/** The ZooKeeper of Flink's distribution, as a single server in the process of the test. */
final class EmbeddedZooKeeper implements AutoCloseable {

    private static final int TICK_MILLIS = 500;

    /** Time until a killed JobManager loses leadership; longer than pauses of a busy machine. */
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(4);

    private static final int ANY_NUMBER = 0;

    private final Path storage;
    private final ZooKeeperServer server;
    private final NIOServerCnxnFactory connections;

    /** Starts it on a free port. */
    EmbeddedZooKeeper(Path directory) throws IOException, InterruptedException {
        this.storage = directory.resolve("ha");
        Path data = directory.resolve("zookeeper");
        this.server = new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS);
        this.connections = new NIOServerCnxnFactory();
        connections.configure(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ANY_NUMBER);
        connections.startup(server);
    }

    /** Configures high availability for a cluster. */
    void configure(Configuration cluster) {
        cluster.set(HighAvailabilityOptions.HA_MODE, "zookeeper");
        cluster.set(
                HighAvailabilityOptions.HA_ZOOKEEPER_QUORUM,
                "127.0.0.1:" + connections.getLocalPort());
        cluster.set(HighAvailabilityOptions.HA_STORAGE_PATH, storage.toUri().toString());
        cluster.set(HighAvailabilityOptions.ZOOKEEPER_SESSION_TIMEOUT, SESSION_TIMEOUT);
    }

    @Override
    public void close() {
        connections.shutdown();
        server.shutdown();
    }
}
