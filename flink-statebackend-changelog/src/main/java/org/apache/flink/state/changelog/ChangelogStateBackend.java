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

package org.apache.flink.state.changelog;

import dev.dstl.changelog.backend.LoggingStateBackend;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.ConfigurableStateBackend;
import org.apache.flink.runtime.state.StateBackend;

/**
 * The class that Flink loads by name for {@code state.changelog.enabled}, and by which it
 * recognizes a changelog state backend on restore.
 */
public final class ChangelogStateBackend extends LoggingStateBackend
        implements ConfigurableStateBackend {

    private static final long serialVersionUID = 1L;

    /** Called by Flink through reflection, and by {@code DstlStateBackend}. */
    public ChangelogStateBackend(StateBackend backend) {
        super(backend);
    }

    @Override
    public StateBackend configure(ReadableConfig config, ClassLoader classLoader) {
        StateBackend delegate = getDelegatedStateBackend();
        return delegate instanceof ConfigurableStateBackend
                ? new ChangelogStateBackend(
                        ((ConfigurableStateBackend) delegate).configure(config, classLoader))
                : this;
    }
}
