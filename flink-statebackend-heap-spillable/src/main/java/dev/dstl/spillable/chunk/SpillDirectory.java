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

package dev.dstl.spillable.chunk;

import java.nio.file.Path;

/**
 * One directory for the chunk files of one backend. After a failed write it is left alone for a
 * while, so that a full or broken disk costs one attempt per pause and not one per block.
 */
final class SpillDirectory {

    private static final long PAUSE_MILLIS = 10_000;

    private final Path path;
    private long pausedAtMillis;
    private long pauseMillis;

    SpillDirectory(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    boolean isUsable(long nowMillis) {
        long passed = nowMillis - pausedAtMillis;
        // A clock that was set back says nothing.
        return passed < 0 || passed >= pauseMillis;
    }

    void pause(long nowMillis) {
        pausedAtMillis = nowMillis;
        pauseMillis = PAUSE_MILLIS;
    }
}
