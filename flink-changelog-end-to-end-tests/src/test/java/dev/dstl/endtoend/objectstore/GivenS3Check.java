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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.endtoend.objectstore.server.S3Endpoint;
import java.net.URI;

/** The contract on a given server, see CONTRIBUTING.md. */
class GivenS3Check extends S3Contract {

    @Override
    S3Endpoint endpoint() {
        return new S3Endpoint(
                URI.create(given("endpoint")),
                given("access-key"),
                given("secret-key"),
                given("bucket"));
    }

    private static String given(String what) {
        String property = "given.s3." + what;
        assertThat(System.getProperty(property)).as("-D" + property).isNotEmpty();
        return System.getProperty(property);
    }
}
