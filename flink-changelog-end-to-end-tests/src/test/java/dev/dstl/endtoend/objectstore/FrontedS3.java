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

package dev.dstl.endtoend.objectstore;

import dev.dstl.endtoend.objectstore.front.StoreFront;
import dev.dstl.endtoend.objectstore.server.EmbeddedS3;
import dev.dstl.endtoend.objectstore.server.PluginFileSystems;
import java.io.IOException;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;

/** The embedded server behind a front, and Flink's file systems in this JVM configured for it. */
final class FrontedS3 implements AutoCloseable {

    private final EmbeddedS3 server;
    private final StoreFront front;

    private FrontedS3(EmbeddedS3 server, StoreFront front) {
        this.server = server;
        this.front = front;
    }

    /**
     * Starts both.
     *
     * @param more keys of the plugin
     */
    static FrontedS3 start(Configuration more) throws Exception {
        EmbeddedS3 server = EmbeddedS3.start();
        FrontedS3 both = new FrontedS3(server, StoreFront.of(server.endpoint().address()));
        both.use(more);
        return both;
    }

    /** Sets up the file systems again with additional keys. */
    void use(Configuration more) throws IOException {
        Configuration configuration = server.endpoint().at(front.address()).configuration();
        configuration.addAll(more);
        PluginFileSystems.use(configuration);
    }

    StoreFront front() {
        return front;
    }

    /** A directory that was never used before. */
    Path newRoot() {
        return new Path("s3://" + server.endpoint().bucket() + "/" + UUID.randomUUID());
    }

    /** Returns the prefix of the keys of objects below a path. */
    static String prefix(Path path) {
        return path.getPath().substring(1) + "/";
    }

    @Override
    public void close() throws IOException {
        PluginFileSystems.reset();
        front.close();
        server.close();
    }
}
