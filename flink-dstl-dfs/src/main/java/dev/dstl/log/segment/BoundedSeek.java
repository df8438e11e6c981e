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

import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;

/**
 * Seeks to offsets that may lie beyond the end of a damaged file. Flink's streams of Hadoop file
 * systems, such as HDFS and S3, implement short forward seeks by skipping until enough bytes were
 * skipped, which never happens beyond the end of the file.
 */
public final class BoundedSeek {

    /** Forward seeks up to this many bytes are short for these streams. */
    static final long SHORT_BYTES = 1 << 20;

    private BoundedSeek() {}

    /**
     * Seeks to an offset.
     *
     * @param offset not negative
     * @return false if the stream is known to end before the offset; it is at its end then
     * @throws IOException if the stream cannot be read; with some file systems also if it ends
     *     before the offset
     */
    public static boolean move(FSDataInputStream stream, long offset) throws IOException {
        long left = offset - stream.getPos();
        if (left < 0 || left > SHORT_BYTES) {
            stream.seek(offset);
            return true;
        }
        while (left > 0) {
            long skipped = stream.skip(left);
            if (skipped > 0) {
                left -= skipped;
            } else if (stream.read() < 0) {
                return false;
            } else {
                left--;
            }
        }
        return true;
    }
}
