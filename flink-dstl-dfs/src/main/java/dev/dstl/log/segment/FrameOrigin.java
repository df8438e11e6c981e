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

import java.util.UUID;
import org.apache.flink.runtime.state.KeyGroupRange;

/** The changelog that a frame is part of, and its place in that. Immutable. */
public final class FrameOrigin {

    private final UUID logId;
    private final long sequence;
    private final int fromKeyGroup;
    private final int toKeyGroup;

    FrameOrigin(UUID logId, long sequence, int fromKeyGroup, int toKeyGroup) {
        this.logId = logId;
        this.sequence = sequence;
        this.fromKeyGroup = fromKeyGroup;
        this.toKeyGroup = toKeyGroup;
    }

    UUID logId() {
        return logId;
    }

    long sequence() {
        return sequence;
    }

    int fromKeyGroup() {
        return fromKeyGroup;
    }

    int toKeyGroup() {
        return toKeyGroup;
    }

    /** Returns whether this frame may come after the other in a handle. */
    boolean follows(FrameOrigin other) {
        return logId.equals(other.logId) && sequence > other.sequence;
    }

    boolean hasAnyOf(KeyGroupRange keyGroups) {
        return fromKeyGroup <= keyGroups.getEndKeyGroup()
                && toKeyGroup > keyGroups.getStartKeyGroup();
    }

    @Override
    public String toString() {
        return String.format(
                "one of changelog %s, sequence number %d, key groups %d to %d",
                logId, sequence, fromKeyGroup, toKeyGroup - 1);
    }
}
