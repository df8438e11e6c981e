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
import java.io.InputStream;

/** Reads what {@link BlockOutput} has written. No byte of a damaged block is returned. */
final class BlockInput extends InputStream {

    private final InputStream in;
    private final String file;
    private final byte[] block = new byte[BlockOutput.HEADER_BYTES + BlockOutput.MOST_BYTES];
    private long position;
    private int next;
    private int end;
    private boolean finished;

    /**
     * @param in not closed by this object
     * @param file for messages
     * @param position where {@code in} stands in the file
     */
    BlockInput(InputStream in, String file, long position) {
        this.in = in;
        this.file = file;
        this.position = position;
    }

    @Override
    public int read() throws IOException {
        return hasMore() ? block[next++] & 0xFF : -1;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        if (!hasMore()) {
            return -1;
        }
        int bytes = Math.min(count, end - next);
        System.arraycopy(block, next, target, offset, bytes);
        next += bytes;
        return bytes;
    }

    private boolean hasMore() throws IOException {
        if (next == end && !finished) {
            readBlock();
        }
        return next < end;
    }

    private void readBlock() throws IOException {
        long start = position;
        readFully(0, BlockOutput.HEADER_BYTES, start);
        int length = BlockOutput.getInt(block, 0);
        if (length < 0 || length > BlockOutput.MOST_BYTES) {
            throw new IOException(
                    String.format(
                            "%s is damaged: a block at byte %d states a length of %d, expected at"
                                    + " most %d.",
                            file, start, length, BlockOutput.MOST_BYTES));
        }
        int expected = BlockOutput.getInt(block, 4);
        readFully(BlockOutput.HEADER_BYTES, length, start);
        int found = BlockOutput.checksum(block, length);
        if (found != expected) {
            throw new IOException(
                    String.format(
                            "%s is damaged: the checksum of the block at byte %d is %08x, expected"
                                    + " %08x.",
                            file, start, found, expected));
        }
        next = BlockOutput.HEADER_BYTES;
        end = BlockOutput.HEADER_BYTES + length;
        finished = length == 0;
    }

    private void readFully(int offset, int bytes, long start) throws IOException {
        int read = in.readNBytes(block, offset, bytes);
        position += read;
        if (read < bytes) {
            throw new IOException(
                    String.format(
                            "%s is damaged: it ends at byte %d, within the block at byte %d, of"
                                    + " which %d more bytes were expected.",
                            file, position, start, bytes - read));
        }
    }
}
