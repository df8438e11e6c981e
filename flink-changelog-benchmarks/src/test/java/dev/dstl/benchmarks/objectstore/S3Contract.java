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

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.benchmarks.objectstore.server.PluginFileSystems;
import dev.dstl.benchmarks.objectstore.server.S3Endpoint;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;

/** What S3 and Flink's plugin for it add to the contract. */
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
    void wrongCredentials_failTheFirstTask_namingKeyAndFix() throws Exception {
        Configuration wrong = endpoint().withWrongSecret().configuration();
        // The plugin takes the refusal for one of wrong clocks and repeats, for a minute if let.
        wrong.setString("s3.max-error-retries", "1");
        PluginFileSystems.use(wrong);
        try (LogOnStore log = new LogOnStore(root())) {
            assertThatThrownBy(log::writer)
                    .isInstanceOf(IllegalConfigurationException.class)
                    .hasMessageContaining("'state.changelog.dstl.dfs.base-path' is '" + root())
                    .hasMessageContaining("SignatureDoesNotMatch")
                    .hasMessageContaining("credentials");
        }
    }

    @Test
    void missingBucket_failsTheFirstTask_namingKeyAndFix() throws Exception {
        Path nowhere = new Path("s3://no-such-bucket/log");
        try (LogOnStore log = new LogOnStore(nowhere)) {
            assertThatThrownBy(log::writer)
                    .isInstanceOf(IllegalConfigurationException.class)
                    .hasMessageContaining("'state.changelog.dstl.dfs.base-path' is '" + nowhere)
                    .hasMessageContaining("NoSuchBucket")
                    .hasMessageContaining("bucket");
        }
    }
}
