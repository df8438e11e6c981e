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
import java.util.Properties;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStoreContext;
import org.jclouds.blobstore.TransientApiMetadata;

/** An S3 server in this JVM, on a free port of the loopback interface; objects are in memory. */
public final class EmbeddedS3 implements AutoCloseable {

    private static final String ACCESS_KEY = "access";
    private static final String SECRET_KEY = "secret-of-a-test";
    private static final String BUCKET = "bucket";

    private final BlobStoreContext objects;
    private final S3Proxy server;

    private EmbeddedS3(BlobStoreContext objects, S3Proxy server) {
        this.objects = objects;
        this.server = server;
    }

    /** Starts a server with an empty bucket. */
    public static EmbeddedS3 start() throws Exception {
        BlobStoreContext objects =
                ContextBuilder.newBuilder(new TransientApiMetadata())
                        .overrides(new Properties())
                        .build(BlobStoreContext.class);
        objects.getBlobStore().createContainerInLocation(null, BUCKET);
        S3Proxy server =
                S3Proxy.builder()
                        .blobStore(objects.getBlobStore())
                        .endpoint(URI.create("http://127.0.0.1:0"))
                        .awsAuthentication(AuthenticationType.AWS_V2_OR_V4, ACCESS_KEY, SECRET_KEY)
                        .build();
        server.start();
        return new EmbeddedS3(objects, server);
    }

    /** Creates one more bucket. */
    public void createBucket(String name) {
        objects.getBlobStore().createContainerInLocation(null, name);
    }

    public S3Endpoint endpoint() {
        return new S3Endpoint(
                URI.create("http://127.0.0.1:" + server.getPort()), ACCESS_KEY, SECRET_KEY, BUCKET);
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("The embedded S3 server does not stop", e);
        } finally {
            objects.close();
        }
    }
}
