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

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.segment.FrameCursor;
import dev.dstl.log.segment.FrameOrder;
import java.io.IOException;
import org.apache.flink.runtime.state.KeyGroupRange;

/** Returns the records of all frames of a handle, in order. Owns the frames. */
final class HandleCursor implements RecordCursor {

    private final FrameSequence frames;
    private final FrameCursor frame = new FrameCursor();

    private final FrameOrder order;

    private boolean inFrame;

    /**
     * Creates a cursor.
     *
     * @param keyGroups key groups of the handle
     */
    HandleCursor(FrameSequence frames, KeyGroupRange keyGroups) {
        this.frames = frames;
        this.order = new FrameOrder(keyGroups);
    }

    @Override
    public boolean next(LogRecord record) throws IOException {
        while (!inFrame || !frame.next(record)) {
            inFrame = frames.startNext(frame);
            if (!inFrame) {
                return false;
            }
            frame.verifyPlace(order);
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        inFrame = false;
        frame.close();
        frames.close();
    }
}
