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

package dev.dstl.benchmarks.objectstore;

import dev.dstl.benchmarks.objectstore.server.S3Endpoint;
import java.net.URI;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The same against the reader's own server, named with {@code -Dgiven.s3.endpoint}, {@code
 * -Dgiven.s3.access-key}, {@code -Dgiven.s3.secret-key} and {@code -Dgiven.s3.bucket}; see
 * CONTRIBUTING.md.
 */
@EnabledIfSystemProperty(named = "given.s3.endpoint", matches = ".+")
class GivenS3ITCase extends S3Contract {

    @Override
    S3Endpoint endpoint() {
        return new S3Endpoint(
                URI.create(System.getProperty("given.s3.endpoint")),
                System.getProperty("given.s3.access-key"),
                System.getProperty("given.s3.secret-key"),
                System.getProperty("given.s3.bucket"));
    }
}
