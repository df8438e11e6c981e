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

package dev.dstl.tool.checkpoint;

/** The checkpoint of a job with the highest number that was found so far. Immutable. */
final class NewestCheckpoint {

    private final long number;
    private final long writtenEpochMillis;

    NewestCheckpoint(long number, long writtenEpochMillis) {
        this.number = number;
        this.writtenEpochMillis = writtenEpochMillis;
    }

    /** Returns when its metadata was written, in milliseconds since the epoch. */
    long writtenEpochMillis() {
        return writtenEpochMillis;
    }

    /**
     * Returns the newer of two. Numbers decide, as a copy of an old checkpoint may have a new time;
     * of two copies the older one counts.
     */
    static NewestCheckpoint of(NewestCheckpoint one, NewestCheckpoint other) {
        if (one.number != other.number) {
            return one.number > other.number ? one : other;
        }
        return one.writtenEpochMillis < other.writtenEpochMillis ? one : other;
    }
}
