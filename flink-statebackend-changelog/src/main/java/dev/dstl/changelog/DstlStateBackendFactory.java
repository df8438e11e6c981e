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

package dev.dstl.changelog;

import dev.dstl.changelog.config.ChangelogBackendOptions;
import dev.dstl.changelog.config.MisconfigurationException;
import java.io.IOException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.util.DynamicCodeLoadingException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the changelog state backend for {@code state.backend.type:
 * dev.dstl.changelog.DstlStateBackendFactory}; {@link ChangelogBackendOptions#DELEGATE} selects the
 * delegate.
 */
public final class DstlStateBackendFactory implements StateBackendFactory<StateBackend> {

    private static final Logger LOG = LoggerFactory.getLogger(DstlStateBackendFactory.class);

    /**
     * {@inheritDoc}
     *
     * @throws MisconfigurationException if the jars are misplaced, or if the delegate cannot be
     *     loaded or is this factory
     */
    @Override
    public StateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader)
            throws IOException {
        String delegate = config.get(ChangelogBackendOptions.DELEGATE);
        if (delegate.equals(getClass().getName())) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s: %s' names the changelog backend itself; set it to 'rocksdb' or"
                                    + " 'hashmap'.",
                            ChangelogBackendOptions.DELEGATE.key(), delegate));
        }
        Configuration delegateConfig = Configuration.fromMap(config.toMap());
        delegateConfig.set(StateBackendOptions.STATE_BACKEND, delegate);
        try {
            return ShimLoader.wrap(
                    StateBackendLoader.loadStateBackendFromConfig(delegateConfig, classLoader, LOG),
                    classLoader);
        } catch (DynamicCodeLoadingException e) {
            throw new MisconfigurationException(
                    String.format(
                            "'%s: %s' names no state backend that can be loaded (%s); set it to"
                                    + " 'rocksdb', 'hashmap' or the class name of a state backend"
                                    + " factory, and put its jar into lib/.",
                            ChangelogBackendOptions.DELEGATE.key(), delegate, e.getMessage()));
        }
    }
}
