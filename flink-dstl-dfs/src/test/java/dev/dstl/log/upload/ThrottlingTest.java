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

package dev.dstl.log.upload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThrottlingTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Please reduce your request rate. (Service: Amazon S3; Status Code: 503; Error"
                        + " Code: SlowDown; Request ID: 1)",
                "com.amazonaws.services.s3.model.AmazonS3Exception: Slow Down",
                "Service Unavailable (Service: Amazon S3; Status Code: 503; Error Code: 503)",
                "Operation failed: \"Ingress is over the account limit.\", 503, ServerBusy",
                "429 Too Many Requests",
                "ThrottlingException: Rate exceeded",
                "HTTP status code 429",
                "rateLimitExceeded",
            })
    void whatStoresSayWhenThereAreTooManyRequests_isThrottling(String message) {
        assertThat(Throttling.isCauseOf(new IOException(message))).isTrue();
        assertThat(Throttling.isCauseOf(new RuntimeException(new IOException(message)))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Connection reset",
                "Access Denied (Service: Amazon S3; Status Code: 403; Error Code: AccessDenied)",
                "s3://bucket/503/0000000429-1.seg: No space left on device",
                "The stream took 503 bytes of a segment of 429 bytes",
                "Status Code: 500",
            })
    void otherFailures_areNot(String message) {
        assertThat(Throttling.isCauseOf(new IOException(message))).isFalse();
    }

    @Test
    void endlessChainOfCauses_ends() {
        IOException one = new IOException("one");
        IOException other = new IOException("other", one);
        one.initCause(other);
        assertThat(Throttling.isCauseOf(one)).isFalse();
    }
}
