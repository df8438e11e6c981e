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

package dev.dstl.log.compaction;

import dev.dstl.log.batch.PagePool;
import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.commit.GroupCommit;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.RecordedMetrics;
import dev.dstl.log.writer.DstlLogWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import javax.annotation.Nullable;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** Compactions of the changelogs of a {@link LogFixture}, which record what becomes of them. */
final class RecordedCompactions implements AutoCloseable {

    final LogFixture log = LogFixture.onCallingThread(new Configuration());

    /** What has happened to which compaction, in order. */
    final List<String> events = Collections.synchronizedList(new ArrayList<>());

    /** What a changelog does as the output of its compaction is durable. */
    Runnable whenDurable = () -> {};

    private final List<DstlLogWriter> writers = new ArrayList<>();

    /** With two changelogs, since outputs of several wait for each other. */
    RecordedCompactions() {
        writers.add(log.writer());
        writers.add(log.writer());
    }

    /** A compactor whose time passes with the timers of the changelogs. */
    Compactor compactor(
            Executor threads, PagePool pages, DstlHandleReader reader, RecordedMetrics metrics) {
        return compactor(threads, pages, reader, metrics, log.timers());
    }

    Compactor compactor(
            Executor threads,
            PagePool pages,
            DstlHandleReader reader,
            RecordedMetrics metrics,
            Timers timers) {
        return new Compactor(
                DstlSettings.from(
                        new Configuration()
                                .set(DstlOptions.BASE_PATH, log.store().basePath().toString())),
                threads,
                pages,
                reader,
                timers,
                new DstlMetrics(metrics));
    }

    /** A compaction that cannot be read. */
    Compaction<FakeInput> compaction(String name, Runnable whenSubmitted) {
        return compaction(
                log, name, new ByteStreamStateHandle("1.seg", new byte[100]), whenSubmitted);
    }

    /**
     * @param whenSubmitted called when the output is asked for
     */
    Compaction<FakeInput> compaction(
            LogFixture changelogs, String name, StreamStateHandle source, Runnable whenSubmitted) {
        return compaction(
                changelogs.compactor(),
                changelogs.commit(),
                name,
                List.of(source),
                16,
                whenSubmitted);
    }

    Compaction<FakeInput> compaction(
            Compactor reader,
            GroupCommit commit,
            String name,
            List<StreamStateHandle> sources,
            long frameOffset,
            Runnable whenSubmitted) {
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>();
        sources.forEach(source -> frames.add(Tuple2.of(source, frameOffset)));
        CompactionListener<FakeInput> listener =
                new CompactionListener<>() {
                    @Override
                    public long lastCheckpoint() {
                        events.add(name + " is submitted");
                        whenSubmitted.run();
                        return 1;
                    }

                    @Override
                    public void compacted(Compaction<FakeInput> ended, BatchPosition position) {
                        events.add(name + " is durable");
                        whenDurable.run();
                    }

                    @Override
                    public void compactionFailed(
                            Compaction<FakeInput> failed, @Nullable Throwable cause) {
                        events.add(name + " has ended");
                    }
                };
        return new Compaction<>(
                listener,
                reader,
                commit,
                List.of(new FakeInput()),
                new ChangelogStateHandleStreamImpl(frames, LogFixture.KEY_GROUPS, 0, 0, "dstl"),
                UUID.randomUUID());
    }

    @Override
    public void close() {
        writers.forEach(DstlLogWriter::close);
        log.close();
    }
}
