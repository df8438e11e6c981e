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

package dev.dstl.changelog.mutation;

import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * All mutations of one keyed backend on their way into its log. Belongs to the task thread. The
 * writer stays its creator's, who also closes it.
 */
public final class MutationLog {

    private final StateChangelogWriter<?> writer;
    private int range;

    /**
     * @param writer a {@link dev.dstl.log.writer.MutationLogWriter}, or any other, which then gets
     *     encoded records
     */
    public MutationLog(StateChangelogWriter<?> writer) {
        this.writer = writer;
    }

    /**
     * To be called when a materialization starts, right after the writer gave the sequence number
     * that it covers: what is logged from here on must be readable without anything logged before,
     * so each state registers itself again before its next record.
     */
    public void startNewRange() {
        range++;
    }

    int range() {
        return range;
    }

    StateChangelogWriter<?> writer() {
        return writer;
    }
}
