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

package dev.dstl.log.upload;

import dev.dstl.log.api.RecordKind;
import dev.dstl.log.api.TestRecord;
import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.ownership.SegmentRegistry;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.testing.FaultyTimers;
import dev.dstl.log.testing.LinkedStore;
import dev.dstl.log.testing.ManualTimers;
import dev.dstl.log.testing.RecordedMetrics;
import dev.dstl.log.testing.SharedLink;
import dev.dstl.log.testing.TurnThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;

/**
 * TaskManagers whose uploads share a link to the store, on a manual clock. Each checkpoint rolls
 * one segment on each of them and is complete when all segments up to then are durable.
 */
final class LinkedTaskManagers implements AutoCloseable {

    /** Size of a segment without its record. */
    private static final int FORMAT_BYTES = 500;

    final ManualTimers timers = new ManualTimers();

    /** Those of the uploads. */
    final FaultyTimers uploadTimers = new FaultyTimers(timers);

    final TurnThreads threads = new TurnThreads(timers);
    final SharedLink link;
    final LinkedStore store;
    final List<SegmentUploader> uploaders = new ArrayList<>();
    final List<RecordedMetrics> metrics = new ArrayList<>();
    final List<Checkpoint> checkpoints = new ArrayList<>();
    private final Map<Integer, EncodedSegment> segments = new TreeMap<>();
    private long durableBytes;
    private long durableSegments;

    LinkedTaskManagers(int count, long bytesPerSecond) {
        this(count, bytesPerSecond, new Configuration());
    }

    LinkedTaskManagers(int count, long bytesPerSecond, Configuration configuration) {
        link = new SharedLink(timers, bytesPerSecond);
        store = new LinkedStore(link);
        configuration.set(DstlOptions.BASE_PATH, "linked://store/base");
        DstlSettings settings = DstlSettings.from(configuration);
        for (int i = 0; i < count; i++) {
            RecordedMetrics recorded = new RecordedMetrics();
            DstlMetrics dstlMetrics = new DstlMetrics(recorded);
            metrics.add(recorded);
            uploaders.add(
                    new SegmentUploader(
                            settings,
                            new JobID(1, 2),
                            SegmentName.incarnation(1, i),
                            store,
                            new SegmentRegistry(store, Runnable::run, uploadTimers, dstlMetrics),
                            uploadTimers,
                            threads,
                            threads,
                            dstlMetrics,
                            () -> 0.5));
        }
    }

    /** Triggers a checkpoint with segments of about this size. */
    Checkpoint checkpoint(int bytesEach) {
        return checkpoint(bytesEach, new ArrayList<>());
    }

    /** Triggers a checkpoint and adds its uploads to a list. */
    Checkpoint checkpoint(int bytesEach, List<SegmentUpload> uploads) {
        Checkpoint checkpoint = new Checkpoint(link.nowMillis(), uploaders.size());
        checkpoints.add(checkpoint);
        for (SegmentUploader uploader : uploaders) {
            uploads.add(upload(uploader, bytesEach, checkpoint));
        }
        return checkpoint;
    }

    /** Triggers a checkpoint every second for this number of seconds. */
    void checkpointEverySecond(int seconds, int bytesEach) {
        for (int i = 0; i < seconds; i++) {
            checkpoint(bytesEach);
            timers.advanceMillis(1_000);
        }
    }

    SegmentUpload upload(SegmentUploader uploader, int bytes, Checkpoint checkpoint) {
        SegmentUpload upload = uploader.upload(new Segment(segment(bytes), checkpoint));
        checkpoint.uploads.add(upload);
        upload.ensureRunning();
        return upload;
    }

    private EncodedSegment segment(int bytes) {
        return segments.computeIfAbsent(
                bytes,
                size ->
                        TestSegments.encode(
                                SegmentCodec.NONE,
                                List.of(
                                        new TestRecord(
                                                RecordKind.OPAQUE,
                                                1,
                                                0,
                                                0,
                                                new byte[0],
                                                new byte[Math.max(1, size - FORMAT_BYTES)]))));
    }

    /** Duration of a checkpoint, which includes all earlier segments. */
    long durationMillis(Checkpoint checkpoint) {
        long completed = 0;
        for (Checkpoint other : checkpoints.subList(0, checkpoints.indexOf(checkpoint) + 1)) {
            completed = Math.max(completed, other.completedMillis());
        }
        return completed == Long.MAX_VALUE ? completed : completed - checkpoint.triggeredMillis;
    }

    /** The median of the durations of checkpoints triggered in {@code [from, to)}. */
    long medianMillis(long from, long to) {
        long[] durations =
                checkpoints.stream()
                        .filter(c -> c.triggeredMillis >= from && c.triggeredMillis < to)
                        .mapToLong(this::durationMillis)
                        .toArray();
        Arrays.sort(durations);
        return durations[durations.length / 2];
    }

    /** Trigger time of the checkpoint since which none took longer than this. */
    long fastSinceMillis(double durationMillis) {
        long since = Long.MAX_VALUE;
        for (int i = checkpoints.size() - 1; i >= 0; i--) {
            if (durationMillis(checkpoints.get(i)) > durationMillis) {
                return since;
            }
            since = checkpoints.get(i).triggeredMillis;
        }
        return since;
    }

    long durableBytes() {
        return durableBytes;
    }

    long durableSegments() {
        return durableSegments;
    }

    /** Bytes sent per byte of a durable segment. */
    double bytesSentPerDurableByte() {
        return (double) link.sentBytes() / durableBytes;
    }

    long count(String metric) {
        return metrics.stream().mapToLong(recorded -> recorded.count(metric)).sum();
    }

    @Override
    public void close() {
        uploaders.forEach(SegmentUploader::close);
        threads.close();
    }

    /** One checkpoint, and when the segments it rolled became durable. */
    static final class Checkpoint {
        final long triggeredMillis;
        private final List<SegmentUpload> uploads = new ArrayList<>();
        private int missing;
        private long lastMillis;

        private Checkpoint(long triggeredMillis, int segments) {
            this.triggeredMillis = triggeredMillis;
            this.missing = segments;
        }

        /** Abandons the uploads of its segments. */
        void abandon() {
            uploads.forEach(SegmentUpload::abandon);
        }

        /** Resumes the uploads of its segments, as the next checkpoint does. */
        void resume() {
            uploads.forEach(SegmentUpload::ensureRunning);
        }

        boolean isComplete() {
            return missing == 0;
        }

        /** Duration of its own segments, without earlier ones. */
        long ownMillis() {
            return completedMillis() - triggeredMillis;
        }

        private long completedMillis() {
            return missing == 0 ? lastMillis : Long.MAX_VALUE;
        }
    }

    private final class Segment implements SegmentSource {
        private final EncodedSegment segment;
        private final Checkpoint checkpoint;

        private Segment(EncodedSegment segment, Checkpoint checkpoint) {
            this.segment = segment;
            this.checkpoint = checkpoint;
        }

        @Override
        public EncodedSegment encode(SegmentEncoder encoder) {
            return segment;
        }

        @Override
        public void discard() {}

        @Override
        public Runnable durableAs(Path file, EncodedSegment written) {
            return () -> {
                durableBytes += written.length();
                durableSegments++;
                checkpoint.missing--;
                checkpoint.lastMillis = link.nowMillis();
            };
        }

        @Override
        public void suspended(IOException cause) {}
    }
}
