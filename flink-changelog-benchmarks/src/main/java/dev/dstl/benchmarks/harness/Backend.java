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

package dev.dstl.benchmarks.harness;

import dev.dstl.benchmarks.cluster.ClassPath;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateChangelogOptions;

/** A delegate with or without a changelog. Immutable. */
public final class Backend {

    private final Delegate delegate;
    private final Changelog changelog;

    private Backend(Delegate delegate, Changelog changelog) {
        this.delegate = delegate;
        this.changelog = changelog;
    }

    /** Returns a backend. */
    public static Backend of(Delegate delegate, Changelog changelog) {
        return new Backend(delegate, changelog);
    }

    /** Returns the delegate. */
    public Delegate delegate() {
        return delegate;
    }

    /** Returns the changelog. */
    public Changelog changelog() {
        return changelog;
    }

    /**
     * Returns the class path of the backend's processes, without DSTL's jars unless it needs them.
     *
     * @param builtIn directory of the jars of Flink's built-in changelog
     */
    public ClassPath classPath(Path builtIn) throws IOException {
        // The spillable heap is one of DSTL's jars, with a changelog or without.
        return (delegate == Delegate.SPILLABLE ? Changelog.DSTL : changelog).classPath(builtIn);
    }

    /**
     * Returns the backend's keys of {@code config.yaml}. Materialization keeps its defaults.
     *
     * @param storage URI of the directory of checkpoints and changelog
     */
    public Configuration configuration(String storage, Duration checkpointInterval) {
        Configuration keys = new Configuration();
        keys.set(StateBackendOptions.STATE_BACKEND, delegate.type());
        keys.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, delegate == Delegate.ROCKSDB);
        keys.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, checkpointInterval);
        keys.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, storage + "/checkpoints");
        if (changelog != Changelog.NONE) {
            keys.set(StateChangelogOptions.ENABLE_STATE_CHANGE_LOG, true);
            keys.set(StateChangelogOptions.STATE_CHANGE_LOG_STORAGE, changelog.storage());
            keys.setString("state.changelog.dstl.dfs.base-path", storage + "/log");
        }
        return keys;
    }
}
