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

package dev.dstl.spillable.incremental;

import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;

/**
 * Writes bytes in blocks with checksums, which {@link BlockInput} compares.
 *
 * <pre>
 *   block   | length 4 | CRC32C of length and bytes 4 | bytes |       big endian
 *   ...
 *   end     | 0 4      | CRC32C of length 4           |
 * </pre>
 */
final class BlockOutput extends OutputStream {

    static final int MOST_BYTES = 64 << 10;
    static final int HEADER_BYTES = 8;

    private final OutputStream out;
    private final byte[] block = new byte[HEADER_BYTES + MOST_BYTES];
    private int length;

    /**
     * @param out not closed by this object
     */
    BlockOutput(OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int oneByte) throws IOException {
        if (length == MOST_BYTES) {
            writeBlock();
        }
        block[HEADER_BYTES + length++] = (byte) oneByte;
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        int done = 0;
        while (done < count) {
            if (length == MOST_BYTES) {
                writeBlock();
            }
            int step = Math.min(count - done, MOST_BYTES - length);
            System.arraycopy(bytes, offset + done, block, HEADER_BYTES + length, step);
            length += step;
            done += step;
        }
    }

    private void writeBlock() throws IOException {
        putInt(block, 0, length);
        putInt(block, 4, checksum(block, length));
        out.write(block, 0, HEADER_BYTES + length);
        length = 0;
    }

    /** Writes what is left and that nothing follows. */
    void finish() throws IOException {
        if (length > 0) {
            writeBlock();
        }
        writeBlock();
    }

    /** Of a block with its length in front. */
    static int checksum(byte[] block, int length) {
        CRC32C crc = new CRC32C();
        crc.update(block, 0, 4);
        crc.update(block, HEADER_BYTES, length);
        return (int) crc.getValue();
    }

    private static void putInt(byte[] bytes, int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }

    static int getInt(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 24
                | (bytes[at + 1] & 0xFF) << 16
                | (bytes[at + 2] & 0xFF) << 8
                | (bytes[at + 3] & 0xFF);
    }
}
