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

import java.net.URI;
import org.apache.flink.configuration.Configuration;

/** Address, credentials and an existing bucket of an S3 server. Immutable. */
public final class S3Endpoint {

    private final URI address;
    private final String accessKey;
    private final String secretKey;
    private final String bucket;

    public S3Endpoint(URI address, String accessKey, String secretKey, String bucket) {
        this.address = address;
        this.accessKey = accessKey;
        this.secretKey = secretKey;
        this.bucket = bucket;
    }

    public URI address() {
        return address;
    }

    public String bucket() {
        return bucket;
    }

    /** Returns the same server and bucket at another address, such as a proxy's. */
    public S3Endpoint at(URI other) {
        return new S3Endpoint(other, accessKey, secretKey, bucket);
    }

    /** Returns the same server with a wrong secret key. */
    public S3Endpoint withWrongSecret() {
        return new S3Endpoint(address, accessKey, secretKey + "-wrong", bucket);
    }

    /** Returns the configuration of Flink's S3 plugins. */
    public Configuration configuration() {
        Configuration configuration = new Configuration();
        configuration.setString("s3.endpoint", address.toString());
        configuration.setString("s3.path.style.access", "true");
        configuration.setString("s3.access-key", accessKey);
        configuration.setString("s3.secret-key", secretKey);
        return configuration;
    }
}
