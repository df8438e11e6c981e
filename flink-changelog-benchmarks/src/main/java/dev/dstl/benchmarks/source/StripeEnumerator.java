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

package dev.dstl.benchmarks.source;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/**
 * Assigns each reader its share of the splits when it registers, and receives the splits back that
 * a failed reader had not checkpointed. Runs in the JobManager, coordinator thread only.
 */
final class StripeEnumerator implements SplitEnumerator<StripeSplit, List<StripeSplit>> {

    private final SplitEnumeratorContext<StripeSplit> context;
    private final List<StripeSplit> unassigned;

    StripeEnumerator(SplitEnumeratorContext<StripeSplit> context, List<StripeSplit> unassigned) {
        this.context = context;
        this.unassigned = new ArrayList<>(unassigned);
    }

    @Override
    public void start() {}

    @Override
    public void handleSplitRequest(int subtask, @Nullable String host) {
        throw new IllegalStateException("Readers get their splits unasked; reader " + subtask);
    }

    @Override
    public void addSplitsBack(List<StripeSplit> splits, int subtask) {
        unassigned.addAll(splits);
    }

    @Override
    public void addReader(int subtask) {
        for (Iterator<StripeSplit> splits = unassigned.iterator(); splits.hasNext(); ) {
            StripeSplit split = splits.next();
            if (split.index() % context.currentParallelism() == subtask) {
                context.assignSplit(split, subtask);
                splits.remove();
            }
        }
        context.signalNoMoreSplits(subtask);
    }

    @Override
    public List<StripeSplit> snapshotState(long checkpointId) {
        return Collections.unmodifiableList(new ArrayList<>(unassigned));
    }

    @Override
    public void close() {}
}
