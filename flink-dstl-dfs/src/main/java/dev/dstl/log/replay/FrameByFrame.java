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

package dev.dstl.log.replay;

import dev.dstl.log.segment.FrameCursor;
import dev.dstl.log.segment.ReadSession;
import dev.dstl.log.segment.SegmentReader;
import java.io.IOException;
import java.util.Iterator;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.util.IOUtils;

/** Reads each frame when it is needed. One segment is open at a time. */
final class FrameByFrame implements FrameSequence {

    private final Iterator<Tuple2<StreamStateHandle, Long>> positions;
    private final KeyGroupRange keyGroups;
    private final ReadSession session;

    private StreamStateHandle openHandle;
    private SegmentReader segment;

    FrameByFrame(ChangelogStateHandleStreamImpl handle, ReadSession session) {
        this.positions = handle.getHandlesAndOffsets().iterator();
        this.keyGroups = handle.getKeyGroupRange();
        this.session = session;
    }

    @Override
    public boolean startNext(FrameCursor cursor) throws IOException {
        if (!positions.hasNext()) {
            return false;
        }
        Tuple2<StreamStateHandle, Long> position = positions.next();
        // A group commit leaves several frames of one changelog in a segment, so it stays open.
        if (!position.f0.equals(openHandle)) {
            close();
            segment = SegmentReader.open(position.f0, session);
            openHandle = position.f0;
        }
        cursor.start(segment, segment.frameAt(position.f1), keyGroups);
        return true;
    }

    @Override
    public void close() {
        openHandle = null;
        IOUtils.closeQuietly(segment);
        segment = null;
    }
}
