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

package dev.dstl.changelog.backend;

import dev.dstl.changelog.config.MisconfigurationException;
import dev.dstl.log.config.Installation;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;

/**
 * A state backend that records every change of keyed state in the changelog and checkpoints the
 * changelog.
 */
public abstract class LoggingStateBackend extends WrappingStateBackend {

    private static final long serialVersionUID = 1L;

    /** Creates the backend, see {@link WrappingStateBackend#WrappingStateBackend}. */
    protected LoggingStateBackend(StateBackend backend) {
        super(backend);
        examineInstallation();
    }

    /** Logs what is wrong with the class path of this process. */
    private static void examineInstallation() {
        try {
            Installation.ofProcess();
        } catch (NoClassDefFoundError e) {
            throw new MisconfigurationException(
                    String.format(
                            "The changelog state backend is DSTL's, from %s, but without the changelog"
                                    + " storage (%s); put dstl-flink-<line>-<version>.jar into lib/ of"
                                    + " every Flink process, and no single modules of DSTL.",
                            LoggingStateBackend.class
                                    .getProtectionDomain()
                                    .getCodeSource()
                                    .getLocation(),
                            e.getMessage()));
        }
    }

    @Override
    public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws Exception {
        if (!new DeploymentCheck(parameters.getEnv())
                .needsLog(parameters.getOperatorIdentifier())) {
            return replayed(parameters);
        }
        CheckpointableKeyedStateBackend<K> backend =
                new ChangelogKeyedStateBackendBuilder<>(
                                parameters, getDelegatedStateBackend(), delegates(parameters))
                        .build();
        StartReport.log(parameters.getEnv(), getDelegatedStateBackend());
        return backend;
    }
}
