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
import dev.dstl.endtoend.objectstore.server.S3Endpoint;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on the embedded server, behind a front: the server refuses requests with wrong
 * signatures before it has read them, which clients see as broken connections.
 */
class EmbeddedS3ITCase extends S3Contract {

    private static EmbeddedS3 server;
    private static StoreFront front;

    @BeforeAll
    static void startServer() throws Exception {
        server = EmbeddedS3.start();
        front = StoreFront.of(server.endpoint().address());
    }

    @AfterAll
    static void stopServer() throws IOException {
        if (front != null) {
            front.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Override
    S3Endpoint endpoint() {
        return server.endpoint().at(front.address());
    }
}
