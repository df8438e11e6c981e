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

package dev.dstl.log.writer;

import dev.dstl.log.commit.BatchPosition;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.segment.FrameList;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * Turns positions into the handle that Flink keeps: the segments in the order of writing, each with
 * the offset of one frame. A segment occurs once per frame. Stateless but for the key groups.
 *
 * <p>With local recovery there is a second handle, which names the local copy of every segment that
 * has one; where a copy is missing it names the segment itself, so that a failing disk loses only
 * the copies it could not write.
 */
final class HandleAssembler {

    private final KeyGroupRange keyGroupRange;
    private final boolean withLocalPart;

    HandleAssembler(KeyGroupRange keyGroupRange, boolean withLocalPart) {
        this.keyGroupRange = keyGroupRange;
        this.withLocalPart = withLocalPart;
    }

    /**
     * Creates the result of a persist.
     *
     * @param newBytes total length of frames that no earlier result contained
     * @return empty if there are no positions
     */
    SnapshotResult<ChangelogStateHandleStreamImpl> assemble(
            List<BatchPosition> positions, long newBytes) {
        if (positions.isEmpty()) {
            return SnapshotResult.empty();
        }
        ChangelogStateHandleStreamImpl remote = handle(positions, BatchPosition::segment, newBytes);
        return withLocalPart
                ? SnapshotResult.withLocalState(
                        remote, handle(positions, BatchPosition::nearestSegment, newBytes))
                : SnapshotResult.of(remote);
    }

    /** Returns a handle from which this process reads batches fastest. */
    ChangelogStateHandleStreamImpl source(List<BatchPosition> positions) {
        return handle(frames(positions, BatchPosition::readableSegment), bytes(positions), 0);
    }

    private ChangelogStateHandleStreamImpl handle(
            List<BatchPosition> positions,
            Function<BatchPosition, StreamStateHandle> segment,
            long newBytes) {
        return handle(FrameList.of(frames(positions, segment)), bytes(positions), newBytes);
    }

    private ChangelogStateHandleStreamImpl handle(
            List<Tuple2<StreamStateHandle, Long>> frames, long bytes, long newBytes) {
        return new ChangelogStateHandleStreamImpl(
                frames, keyGroupRange, bytes, newBytes, DstlHandleReader.STORAGE_IDENTIFIER);
    }

    private static List<Tuple2<StreamStateHandle, Long>> frames(
            List<BatchPosition> positions, Function<BatchPosition, StreamStateHandle> segment) {
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>(positions.size());
        for (BatchPosition position : positions) {
            frames.add(Tuple2.of(segment.apply(position), position.frameOffset()));
        }
        return frames;
    }

    private static long bytes(List<BatchPosition> positions) {
        return positions.stream().mapToLong(BatchPosition::frameBytes).sum();
    }
}
