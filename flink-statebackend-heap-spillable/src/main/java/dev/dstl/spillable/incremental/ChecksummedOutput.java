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
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.FSDataOutputStream;

/** Passes a file on from its first byte to its last and computes its {@link FileChecksums}. */
final class ChecksummedOutput extends FSDataOutputStream {

    private final FSDataOutputStream out;
    private final CRC32C crc = new CRC32C();
    private int[] blocks = new int[16];
    private long length;

    /**
     * @param out to which nothing was written yet; not closed by this object
     */
    ChecksummedOutput(FSDataOutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int oneByte) throws IOException {
        out.write(oneByte);
        crc.update(oneByte);
        wrote(1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        out.write(bytes, offset, count);
        int step;
        for (int done = 0; done < count; done += step) {
            int left = FileChecksums.BLOCK_BYTES - (int) (length % FileChecksums.BLOCK_BYTES);
            step = Math.min(count - done, left);
            crc.update(bytes, offset + done, step);
            wrote(step);
        }
    }

    private void wrote(int bytes) {
        length += bytes;
        if (length % FileChecksums.BLOCK_BYTES == 0) {
            endBlock((int) (length / FileChecksums.BLOCK_BYTES - 1));
        }
    }

    private void endBlock(int number) {
        if (number == blocks.length) {
            blocks = Arrays.copyOf(blocks, number * 2);
        }
        blocks[number] = (int) crc.getValue();
        crc.reset();
    }

    /** To be called once, behind the last byte. */
    FileChecksums checksums() {
        int count = Math.toIntExact(FileChecksums.blockCount(length));
        if (length % FileChecksums.BLOCK_BYTES != 0) {
            endBlock(count - 1);
        }
        return new FileChecksums(length, Arrays.copyOf(blocks, count));
    }

    @Override
    public long getPos() throws IOException {
        return out.getPos();
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void sync() throws IOException {
        out.sync();
    }

    /** The stream below is closed by whoever opened it. */
    @Override
    public void close() throws IOException {
        out.flush();
    }
}
