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

package dev.dstl.spillable.overlay;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the page faults of one thread for which the kernel had to read from a disk, out of {@code
 * /proc/thread-self/stat}; always 0 where there is no such file. The thread is the one that asks
 * first.
 */
public final class MajorFaults implements LongSupplier, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MajorFaults.class);

    private static final String FILE = "/proc/thread-self/stat";

    /** Behind the name of the program, which may have blanks and is in parentheses. */
    private static final int BLANKS_BEFORE = 10;

    /** Not a channel, which an interrupt would close. */
    @Nullable private RandomAccessFile file;

    private boolean unavailable;
    private final byte[] line = new byte[1024];

    @Override
    public long getAsLong() {
        if (unavailable) {
            return 0;
        }
        try {
            if (file == null) {
                file = new RandomAccessFile(FILE, "r");
            }
            file.seek(0);
            return parse(line, Math.max(0, file.read(line)));
        } catch (IOException | RuntimeException e) {
            unavailable = true;
            LOG.debug("Cannot count major page faults; a small page cache is not noticed.", e);
            return 0;
        }
    }

    static long parse(byte[] line, int length) {
        int position = length - 1;
        while (position >= 0 && line[position] != ')') {
            position--;
        }
        int blanks = 0;
        while (blanks < BLANKS_BEFORE) {
            if (line[++position] == ' ') {
                blanks++;
            }
        }
        long faults = 0;
        for (position++; line[position] != ' '; position++) {
            faults = faults * 10 + (line[position] - '0');
        }
        return faults;
    }

    @Override
    public void close() throws IOException {
        unavailable = true;
        if (file != null) {
            file.close();
        }
    }
}
