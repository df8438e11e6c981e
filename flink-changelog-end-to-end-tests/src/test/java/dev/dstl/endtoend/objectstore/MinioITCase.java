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
import org.junit.jupiter.api.BeforeAll;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.MinIOContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

/** The contract on MinIO, where there is Docker. */
@Testcontainers(disabledWithoutDocker = true)
class MinioITCase extends S3Contract {

    private static final String BUCKET = "bucket";

    @Container
    private static final MinIOContainer SERVER =
            new MinIOContainer("minio/minio:RELEASE.2024-11-07T00-52-20Z");

    @BeforeAll
    static void createBucket() throws Exception {
        inContainer(
                "mc",
                "alias",
                "set",
                "here",
                "http://127.0.0.1:9000",
                SERVER.getUserName(),
                SERVER.getPassword());
        inContainer("mc", "mb", "here/" + BUCKET);
    }

    private static void inContainer(String... command) throws Exception {
        ExecResult result = SERVER.execInContainer(command);
        assertThat(result.getExitCode()).as(result.toString()).isZero();
    }

    @Override
    S3Endpoint endpoint() {
        return new S3Endpoint(
                URI.create(SERVER.getS3URL()), SERVER.getUserName(), SERVER.getPassword(), BUCKET);
    }
}
