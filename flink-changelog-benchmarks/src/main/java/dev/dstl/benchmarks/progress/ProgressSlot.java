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

package dev.dstl.benchmarks.progress;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What one subtask says about itself: a mapped file that only this subtask writes and anybody on
 * the machine may read. A killed process leaves what it wrote last. Big-endian; times are
 * milliseconds since the epoch, 0 while they have not come.
 *
 * <pre>
 *   0          8               16        24         32              40                    48        56
 *   +----------+---------------+---------+----------+---------------+---------------------+---------+
 *   | openedAt | firstRecordAt | records | fraction | sprintStartAt | recordsBeforeSprint | endedAt |
 *   +----------+---------------+---------+----------+---------------+---------------------+---------+
 * </pre>
 */
public final class ProgressSlot {

    private static final int OPENED_AT = 0;
    private static final int FIRST_RECORD_AT = 8;
    private static final int RECORDS = 16;
    private static final int FRACTION = 24;
    private static final int SPRINT_STARTED_AT = 32;
    private static final int RECORDS_BEFORE_SPRINT = 40;
    private static final int ENDED_AT = 48;
    private static final int SIZE = 56;

    private final MappedByteBuffer bytes;

    private ProgressSlot(MappedByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** Opens the slot for a new attempt of its subtask; keeps the position of the previous one. */
    static ProgressSlot open(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            MappedByteBuffer bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
            bytes.putLong(FIRST_RECORD_AT, 0);
            bytes.putLong(ENDED_AT, 0);
            bytes.putLong(OPENED_AT, System.currentTimeMillis());
            return new ProgressSlot(bytes);
        }
    }

    static Reading read(Path file) throws IOException {
        byte[] content = Files.readAllBytes(file);
        return new Reading(ByteBuffer.wrap(content.length < SIZE ? new byte[SIZE] : content));
    }

    /** Records that the first record of this attempt has arrived. */
    public void firstRecord() {
        bytes.putLong(FIRST_RECORD_AT, System.currentTimeMillis());
    }

    /**
     * Updates the position.
     *
     * @param records number of records since the start of the input, including those before a
     *     restore
     * @param fraction of the input, in [0, 1]
     */
    public void advanced(long records, double fraction) {
        bytes.putLong(RECORDS, records);
        bytes.putDouble(FRACTION, fraction);
    }

    /** Records that the input is not rate-limited from here on. */
    public void sprintStarted(long recordsBefore) {
        bytes.putLong(RECORDS_BEFORE_SPRINT, recordsBefore);
        bytes.putLong(SPRINT_STARTED_AT, System.currentTimeMillis());
    }

    /** Records the end of the input. */
    public void ended() {
        bytes.putLong(ENDED_AT, System.currentTimeMillis());
    }

    /** The content of a slot. */
    static final class Reading {
        final long openedAtMillis;
        final long firstRecordAtMillis;
        final long records;
        final double fraction;
        final long sprintStartedAtMillis;
        final long recordsBeforeSprint;
        final long endedAtMillis;

        private Reading(ByteBuffer bytes) {
            this.openedAtMillis = bytes.getLong(OPENED_AT);
            this.firstRecordAtMillis = bytes.getLong(FIRST_RECORD_AT);
            this.records = bytes.getLong(RECORDS);
            this.fraction = bytes.getDouble(FRACTION);
            this.sprintStartedAtMillis = bytes.getLong(SPRINT_STARTED_AT);
            this.recordsBeforeSprint = bytes.getLong(RECORDS_BEFORE_SPRINT);
            this.endedAtMillis = bytes.getLong(ENDED_AT);
        }
    }
}
