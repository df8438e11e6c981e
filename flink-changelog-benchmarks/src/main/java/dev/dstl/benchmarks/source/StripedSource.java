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

import dev.dstl.benchmarks.progress.ProgressBoard;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A bounded source over a {@link StripedInput}: replayable from the position in a checkpoint,
 * rate-limited, and observed through a {@link ProgressBoard}.
 *
 * @param <E> the type of the events
 */
public final class StripedSource<E> implements Source<E, StripeSplit, List<StripeSplit>> {

    private static final long serialVersionUID = 1L;

    private final StripedInput<E> input;
    private final int splits;
    private final Pace pace;
    private final ProgressBoard board;

    /**
     * Creates a source.
     *
     * @param splits number of splits; the highest useful parallelism
     */
    public StripedSource(StripedInput<E> input, int splits, Pace pace, ProgressBoard board) {
        this.input = input;
        this.splits = splits;
        this.pace = pace;
        this.board = board;
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<StripeSplit, List<StripeSplit>> createEnumerator(
            SplitEnumeratorContext<StripeSplit> context) {
        return new StripeEnumerator(
                context,
                IntStream.range(0, splits)
                        .mapToObj(index -> StripeSplit.atStart(index, splits))
                        .collect(Collectors.toList()));
    }

    @Override
    public SplitEnumerator<StripeSplit, List<StripeSplit>> restoreEnumerator(
            SplitEnumeratorContext<StripeSplit> context, List<StripeSplit> unassigned) {
        return new StripeEnumerator(context, unassigned);
    }

    @Override
    public SourceReader<E, StripeSplit> createReader(SourceReaderContext context) throws Exception {
        return new StripedReader<>(input, pace, board.source(context.getIndexOfSubtask()));
    }

    @Override
    public SimpleVersionedSerializer<StripeSplit> getSplitSerializer() {
        return new StripeSplitSerializer().single();
    }

    @Override
    public SimpleVersionedSerializer<List<StripeSplit>> getEnumeratorCheckpointSerializer() {
        return new StripeSplitSerializer();
    }
}
