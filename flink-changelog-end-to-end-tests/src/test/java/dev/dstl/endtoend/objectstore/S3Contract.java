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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.endtoend.objectstore.server.PluginFileSystems;
import dev.dstl.endtoend.objectstore.server.S3Endpoint;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.api.StoreException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.util.ExceptionUtils;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** Additions of S3 and Flink's plugin to the contract. */
abstract class S3Contract extends ObjectStoreContract {

    abstract S3Endpoint endpoint();

    @Override
    Configuration configuration() {
        return endpoint().configuration();
    }

    @Override
    Path store() {
        return new Path("s3://" + endpoint().bucket() + "/");
    }

    @Test
    void wrongCredentials_areSaidWithKeyAndFix_andFailNoTask() throws Exception {
        Configuration wrong = endpoint().withWrongSecret().configuration();
        // The plugin takes the refusal for one of wrong clocks and repeats, for a minute if let.
        wrong.setString("s3.max-error-retries", "1");
        PluginFileSystems.use(wrong);
        assertSaid(root(), "SignatureDoesNotMatch");
    }

    @Test
    void missingBucket_isSaidWithKeyAndFix_andFailsNoTask() throws Exception {
        assertSaid(new Path("s3://no-such-bucket/log"), "NoSuchBucket");
    }

    private static void assertSaid(Path basePath, String cause) throws Exception {
        Configuration once = new Configuration();
        once.setString("state.changelog.dstl.dfs.upload.retry-policy", "none");
        try (LogOnStore log = new LogOnStore(basePath, once)) {
            ChangelogWriter writer = log.writer();
            append(writer, "has nowhere to go");
            assertThatThrownBy(() -> persist(writer))
                    .satisfies(
                            failure ->
                                    assertThat(
                                                    ExceptionUtils.findThrowable(
                                                            failure, StoreException.class))
                                            .get(InstanceOfAssertFactories.THROWABLE)
                                            .hasMessageContaining(cause)
                                            .hasNoCause());
            assertThat(log.storeProblem())
                    .get(InstanceOfAssertFactories.STRING)
                    .contains(
                            "'state.changelog.dstl.dfs.base-path' is '" + basePath,
                            cause,
                            "a bucket that exists and credentials that may write to it");
        }
    }
}
