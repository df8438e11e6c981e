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
 * Moves streams to offsets that a damaged file may not have. Flink's streams of Hadoop file
 * systems, HDFS and S3 among them, turn short seeks forward into skips that are repeated until they
 * have skipped enough, which behind the end of the file is never.
 */
public final class BoundedSeek {

    /** What those streams take for short, in bytes. */
    static final long SHORT_BYTES = 1 << 20;

    private BoundedSeek() {}

    /**
     * Moves a stream.
     *
     * @param offset not negative
     * @return false if the stream is known to end before the offset; it stands at its end then
     * @throws IOException if the stream cannot be read, and with some file systems if it ends
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
