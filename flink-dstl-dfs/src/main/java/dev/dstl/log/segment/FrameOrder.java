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

package dev.dstl.log.segment;

import javax.annotation.Nullable;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Tells whether the frames of a handle are those that its writer put there. Checksums do not tell a
 * frame from one of another file that was written under the same name. All frames of a handle come
 * from one changelog in ascending order, also those of compacted runs, and the writer has key
 * groups of the handle. Not thread-safe.
 */
public final class FrameOrder {

    private final KeyGroupRange keyGroups;
    @Nullable private FrameOrigin last;

    /**
     * Creates an order that accepts any changelog.
     *
     * @param keyGroups key groups of the handle
     */
    public FrameOrder(KeyGroupRange keyGroups) {
        this.keyGroups = keyGroups;
    }

    /**
     * Goes on to the next frame.
     *
     * @return what was expected instead of the frame, or null if it belongs here
     */
    @Nullable
    public String next(FrameOrigin frame) {
        if (last != null && !frame.follows(last)) {
            return String.format(
                    "a frame of changelog %s after sequence number %d",
                    last.logId(), last.sequence());
        }
        if (!frame.hasAnyOf(keyGroups)) {
            return String.format(
                    "a frame of a changelog with key groups of %d to %d",
                    keyGroups.getStartKeyGroup(), keyGroups.getEndKeyGroup());
        }
        last = frame;
        return null;
    }
}
