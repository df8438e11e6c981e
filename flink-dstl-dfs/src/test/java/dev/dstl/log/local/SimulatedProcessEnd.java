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

package dev.dstl.log.local;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Unlocks the directories of a simulated process in place of the operating system, which would do
 * so only when the process of the simulation ends.
 */
public final class SimulatedProcessEnd {

    private SimulatedProcessEnd() {}

    /** Releases the locks and deletes the directories. */
    public static void unlock(LocalDirectories directories) {
        try {
            for (File directory : directories.own()) {
                DirectoryLocks.deleteOwn(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
