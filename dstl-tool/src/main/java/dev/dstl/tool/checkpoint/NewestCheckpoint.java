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

import java.util.Objects;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/** When a job took its newest checkpoint, as far as that was found. Immutable. */
final class NewestCheckpoint {

    @Nullable private final Path directory;
    private final long number;
    private final long writtenEpochMillis;

    /**
     * @param directory in which that of the checkpoint is; null if that is a root
     * @param number of the checkpoint, negative if its directory has none
     */
    NewestCheckpoint(@Nullable Path directory, long number, long writtenEpochMillis) {
        this.directory = directory;
        this.number = number;
        this.writtenEpochMillis = writtenEpochMillis;
    }

    /** Returns when its metadata was written, in milliseconds since the epoch. */
    long writtenEpochMillis() {
        return writtenEpochMillis;
    }

    /**
     * Returns the newer of two. In one directory the times tell, as a job may have begun anew with
     * the first number. Of two directories the higher number tells, as a copy of an old checkpoint
     * may have a new time; of two copies the older one counts.
     */
    static NewestCheckpoint of(NewestCheckpoint one, NewestCheckpoint other) {
        boolean together = Objects.equals(one.directory, other.directory);
        if (together && one.number >= 0 && other.number >= 0) {
            return new NewestCheckpoint(
                    one.directory,
                    Math.max(one.number, other.number),
                    Math.max(one.writtenEpochMillis, other.writtenEpochMillis));
        }
        if (one.number != other.number) {
            return one.number > other.number ? one : other;
        }
        return one.writtenEpochMillis < other.writtenEpochMillis ? one : other;
    }
}
