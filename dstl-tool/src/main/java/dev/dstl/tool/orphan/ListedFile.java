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

package dev.dstl.tool.orphan;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;

/** A file as its file system listed it. Immutable. */
class ListedFile {

    private final Path file;
    private final long bytes;
    private final long modifiedEpochMillis;

    ListedFile(FileStatus status) {
        this.file = status.getPath();
        this.bytes = status.getLen();
        this.modifiedEpochMillis = status.getModificationTime();
    }

    final Path file() {
        return file;
    }

    final long bytes() {
        return bytes;
    }

    /**
     * Returns the modification time in milliseconds since the epoch; 0 or less if the file system
     * does not know it.
     */
    final long modifiedEpochMillis() {
        return modifiedEpochMillis;
    }

    /** Returns when the file was written, as text. */
    final String written() {
        return modifiedEpochMillis > 0 ? time(modifiedEpochMillis) : "not known";
    }

    /** Returns a time in milliseconds since the epoch as text. */
    static String time(long epochMillis) {
        return Instant.ofEpochMilli(epochMillis).truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Returns the JSON of the file, to which a report adds. */
    final Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("file", file.toString());
        json.put("bytes", bytes);
        json.put("modifiedEpochMillis", modifiedEpochMillis);
        return json;
    }
}
