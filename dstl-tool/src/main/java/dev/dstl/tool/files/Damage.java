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

package dev.dstl.tool.files;

import dev.dstl.log.segment.CorruptSegmentException;
import java.io.FileNotFoundException;
import java.nio.file.NoSuchFileException;

/** Describes what is wrong with a segment, without the advice for a restore. */
public final class Damage {

    private Damage() {}

    /** Returns offset, expected and found content; or why the segment could not be read. */
    public static String text(Exception failure) {
        if (failure instanceof CorruptSegmentException) {
            CorruptSegmentException damage = (CorruptSegmentException) failure;
            return String.format(
                    "at byte %d expected %s, found %s",
                    damage.offset(), damage.expected(), damage.found());
        }
        if (failure instanceof FileNotFoundException || failure instanceof NoSuchFileException) {
            return String.format(
                    "there is no such file, or user '%s' may not read it",
                    System.getProperty("user.name"));
        }
        return "it cannot be read: "
                + FileAccess.firstLine(failure.getCause() == null ? failure : failure.getCause());
    }
}
