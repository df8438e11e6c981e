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

package dev.dstl.spillable.table;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Gathers what serializers write before it goes to the stream of a snapshot, for which each write
 * of a serializer would be a call through several layers. Keeps some {@value #FLUSH_BYTES} bytes,
 * however long an entry is: a list or a map may be larger than the heap. One thread.
 */
final class EntryOutput extends DataOutputSerializer {

    private static final int FLUSH_BYTES = 32 * 1024;

    private final DataOutputView out;

    EntryOutput(DataOutputView out) {
        super(2 * FLUSH_BYTES);
        this.out = out;
    }

    void flush() throws IOException {
        out.write(getSharedBuffer(), 0, length());
        clear();
    }

    private void flushIfFull() throws IOException {
        if (length() >= FLUSH_BYTES) {
            flush();
        }
    }

    @Override
    public void write(int oneByte) throws IOException {
        flushIfFull();
        super.write(oneByte);
    }

    @Override
    public void write(byte[] bytes) throws IOException {
        write(bytes, 0, bytes.length);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (length < FLUSH_BYTES) {
            flushIfFull();
            super.write(bytes, offset, length);
        } else {
            flush();
            out.write(bytes, offset, length);
        }
    }

    @Override
    public void write(MemorySegment segment, int offset, int length) throws IOException {
        flushIfFull();
        super.write(segment, offset, length);
    }

    @Override
    public void write(DataInputView source, int length) throws IOException {
        flushIfFull();
        super.write(source, length);
    }

    @Override
    public void skipBytesToWrite(int bytes) throws IOException {
        flushIfFull();
        super.skipBytesToWrite(bytes);
    }

    @Override
    public void writeBoolean(boolean value) throws IOException {
        flushIfFull();
        super.writeBoolean(value);
    }

    @Override
    public void writeByte(int value) throws IOException {
        flushIfFull();
        super.writeByte(value);
    }

    @Override
    public void writeBytes(String text) throws IOException {
        flushIfFull();
        super.writeBytes(text);
    }

    @Override
    public void writeChar(int value) throws IOException {
        flushIfFull();
        super.writeChar(value);
    }

    @Override
    public void writeChars(String text) throws IOException {
        flushIfFull();
        super.writeChars(text);
    }

    @Override
    public void writeInt(int value) throws IOException {
        flushIfFull();
        super.writeInt(value);
    }

    @Override
    public void writeLong(long value) throws IOException {
        flushIfFull();
        super.writeLong(value);
    }

    @Override
    public void writeShort(int value) throws IOException {
        flushIfFull();
        super.writeShort(value);
    }

    @Override
    public void writeUTF(String text) throws IOException {
        flushIfFull();
        super.writeUTF(text);
    }
}
