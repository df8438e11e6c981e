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

import dev.dstl.benchmarks.progress.ProgressSlot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/**
 * Emits the events of its splits in the order of their event time, no faster than its pace allows.
 * Task thread only; only the future of {@link #isAvailable()} is completed by a timer thread. An
 * input that cannot be read fails the task.
 */
final class StripedReader<E> implements SourceReader<E, StripeSplit> {

    /** Shorter sleeps cost more for wake-ups than they improve the evenness. */
    private static final long SHORTEST_NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final StripedInput<E> input;
    private final Pace pace;
    private final ProgressSlot progress;
    private final List<StripeCursor<E>> cursors = new ArrayList<>();
    private final Map<String, SourceOutput<E>> outputs = new HashMap<>();

    private CompletableFuture<Void> available = new CompletableFuture<>();
    private boolean noMoreSplits;
    private long startNanos;
    private double startFraction;
    private boolean sprinting;
    private boolean outputsCurrent;

    StripedReader(StripedInput<E> input, Pace pace, ProgressSlot progress) {
        this.input = input;
        this.pace = pace;
        this.progress = progress;
    }

    @Override
    public void start() {}

    @Override
    public void addSplits(List<StripeSplit> splits) {
        try {
            for (StripeSplit split : splits) {
                cursors.add(new StripeCursor<>(input, split));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The input cannot be read: " + e.getMessage(), e);
        }
        outputsCurrent = false;
        startNanos = System.nanoTime();
        startFraction = fraction();
        available.complete(null);
    }

    @Override
    public void notifyNoMoreSplits() {
        noMoreSplits = true;
        available.complete(null);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<E> output) throws Exception {
        openAndReleaseOutputs(output);
        StripeCursor<E> cursor = earliest();
        if (cursor == null) {
            return noMoreSplits ? end() : napUntilSplitsCome();
        }
        double fraction = cursor.fraction();
        long wait = pace.waitNanos(startFraction, System.nanoTime() - startNanos, fraction);
        if (wait > 0) {
            return nap(wait);
        }
        if (!sprinting && pace.sprintsAt(fraction)) {
            sprinting = true;
            progress.sprintStarted(emitted());
        }
        long eventTime = cursor.eventTimeMillis();
        outputs.get(cursor.splitId()).collect(cursor.next(), eventTime);
        outputsCurrent = !cursor.isExhausted();
        progress.advanced(emitted(), fraction());
        return InputStatus.MORE_AVAILABLE;
    }

    @Override
    public List<StripeSplit> snapshotState(long checkpointId) {
        return cursors.stream().map(StripeCursor::position).collect(Collectors.toList());
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return available;
    }

    @Override
    public void close() {}

    /**
     * Creates all outputs before the first event, so that a split without events does not hold back
     * the watermark.
     */
    private void openAndReleaseOutputs(ReaderOutput<E> output) {
        if (outputsCurrent) {
            return;
        }
        outputsCurrent = true;
        for (StripeCursor<E> cursor : cursors) {
            String id = cursor.splitId();
            if (!cursor.isExhausted()) {
                outputs.computeIfAbsent(id, output::createOutputForSplit);
            } else if (outputs.remove(id) != null) {
                output.releaseOutputForSplit(id);
            }
        }
    }

    private InputStatus end() {
        progress.advanced(emitted(), 1);
        progress.ended();
        return InputStatus.END_OF_INPUT;
    }

    private InputStatus nap(long nanos) {
        available =
                new CompletableFuture<Void>()
                        .completeOnTimeout(
                                null, Math.max(nanos, SHORTEST_NAP_NANOS), TimeUnit.NANOSECONDS);
        return InputStatus.NOTHING_AVAILABLE;
    }

    private InputStatus napUntilSplitsCome() {
        available = new CompletableFuture<>();
        return InputStatus.NOTHING_AVAILABLE;
    }

    @Nullable
    private StripeCursor<E> earliest() {
        StripeCursor<E> earliest = null;
        for (StripeCursor<E> cursor : cursors) {
            if (!cursor.isExhausted()
                    && (earliest == null
                            || cursor.eventTimeMillis() < earliest.eventTimeMillis())) {
                earliest = cursor;
            }
        }
        return earliest;
    }

    private long emitted() {
        long sum = 0;
        for (StripeCursor<E> cursor : cursors) {
            sum += cursor.emitted();
        }
        return sum;
    }

    private double fraction() {
        double sum = 0;
        for (StripeCursor<E> cursor : cursors) {
            sum += cursor.fraction();
        }
        return cursors.isEmpty() ? 1 : sum / cursors.size();
    }
}
