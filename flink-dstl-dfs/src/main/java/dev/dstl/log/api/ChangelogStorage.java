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

package dev.dstl.log.api;

import java.util.Optional;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;

/** A changelog storage that reports why checkpoints wait for it. Thread-safe. */
public interface ChangelogStorage extends StateChangelogStorage<ChangelogStateHandleStreamImpl> {

    /**
     * Registers the metrics by which a job with keyed state is recognized. Called on the task
     * thread before a keyed backend restores, since the job may fail there again and again.
     */
    void restoring();

    /**
     * Creates the changelog writer of a keyed backend. Called on the task thread.
     *
     * @param parallelism of the operator, at least 1; the higher it is, the fewer bytes of each
     *     subtask travel inline in checkpoint metadata
     */
    ChangelogWriter createWriter(
            String operatorId,
            KeyGroupRange keyGroupRange,
            MailboxExecutor mailboxExecutor,
            int parallelism);

    /**
     * Returns why checkpoints currently wait for the store, as a sentence for the user.
     *
     * @return empty if the store accepts writes
     */
    Optional<String> storeProblem();

    /** Closes the storage without waiting; threads that are still busy end on their own. */
    @Override
    void close();
}
