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
import org.apache.flink.core.fs.FSDataInputStream;

/** Reads a file whose {@link FileChecksums} are known. No byte of a damaged block is returned. */
final class ChecksummedInput extends FSDataInputStream {

    private final FSDataInputStream in;
    private final String file;
    private final FileChecksums expected;
    private final byte[] block = new byte[FileChecksums.BLOCK_BYTES];

    /** The block that was read, which ends at {@code blockStart + blockLength}; empty at first. */
    private long blockStart;

    private int blockLength;
    private long position;

    /**
     * @param in closed with this object
     * @param file for messages
     */
    ChecksummedInput(FSDataInputStream in, String file, FileChecksums expected) {
        this.in = in;
        this.file = file;
        this.expected = expected;
    }

    @Override
    public void seek(long newPosition) {
        position = newPosition;
    }

    @Override
    public long getPos() {
        return position;
    }

    @Override
    public int read() throws IOException {
        return hasMore() ? block[(int) (position++ - blockStart)] & 0xFF : -1;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
        if (count == 0) {
            return 0;
        }
        if (!hasMore()) {
            return -1;
        }
        int from = (int) (position - blockStart);
        int bytes = Math.min(count, blockLength - from);
        System.arraycopy(block, from, target, offset, bytes);
        position += bytes;
        return bytes;
    }

    private boolean hasMore() throws IOException {
        if (position >= expected.length) {
            return false;
        }
        if (position < blockStart || position >= blockStart + blockLength) {
            readBlock((int) (position / FileChecksums.BLOCK_BYTES));
        }
        return true;
    }

    private void readBlock(int number) throws IOException {
        blockLength = 0;
        long start = (long) number * FileChecksums.BLOCK_BYTES;
        if (in.getPos() != start) {
            in.seek(start);
        }
        int length = (int) Math.min(FileChecksums.BLOCK_BYTES, expected.length - start);
        int read = in.readNBytes(block, 0, length);
        if (read < length) {
            throw new IOException(
                    String.format(
                            "%s is damaged: it ends at byte %d, expected at byte %d.",
                            file, start + read, expected.length));
        }
        int found = FileChecksums.checksum(block, length);
        if (found != expected.blocks[number]) {
            throw new IOException(
                    String.format(
                            "%s is damaged: the checksum of the %d bytes at byte %d is %08x,"
                                    + " expected %08x.",
                            file, length, start, found, expected.blocks[number]));
        }
        blockStart = start;
        blockLength = length;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
