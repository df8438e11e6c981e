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

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * The bytes of a {@link FrameList} in the acknowledgement of a checkpoint. They are never stored.
 *
 * <pre>
 *   version (1 byte) = 1
 *   number of frames
 *   per frame:   segment = 0   the one of the frame before
 *                        | 1   inline: name, number of bytes, bytes
 *                        | 2   a file: directory, name, bytes of the file
 *                        | n   a file in the directory of the first file with 2, for n = 3, of the
 *                              second, for n = 4, and so on: name, bytes of the file
 *                offset of the frame
 * </pre>
 *
 * Numbers are of variable length, 7 bits per byte, least significant first; texts are as {@link
 * java.io.DataOutput#writeUTF} writes them.
 */
final class FrameListFormat {

    private static final int VERSION = 1;
    private static final int SAME = 0;
    private static final int INLINE = 1;
    private static final int NEW_DIRECTORY = 2;
    private static final int FIRST_DIRECTORY = 3;

    private FrameListFormat() {}

    static byte[] write(Object[] segments, long[] segmentBytes, long[] offsets) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeByte(VERSION);
            writeNumber(out, segments.length);
            Map<String, Integer> directories = new LinkedHashMap<>();
            for (int i = 0; i < segments.length; i++) {
                if (i > 0 && segments[i] == segments[i - 1]) {
                    writeNumber(out, SAME);
                } else if (segments[i] instanceof Path) {
                    writeFile(out, segments[i].toString(), directories);
                    writeNumber(out, segmentBytes[i]);
                } else {
                    writeInline(out, (ByteStreamStateHandle) segments[i]);
                }
                writeNumber(out, offsets[i]);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private static void writeFile(
            DataOutputStream out, String path, Map<String, Integer> directories)
            throws IOException {
        int nameStart = path.lastIndexOf('/') + 1;
        String directory = path.substring(0, nameStart);
        Integer known = directories.putIfAbsent(directory, FIRST_DIRECTORY + directories.size());
        if (known == null) {
            writeNumber(out, NEW_DIRECTORY);
            out.writeUTF(directory);
        } else {
            writeNumber(out, known);
        }
        out.writeUTF(path.substring(nameStart));
    }

    private static void writeInline(DataOutputStream out, ByteStreamStateHandle inline)
            throws IOException {
        writeNumber(out, INLINE);
        out.writeUTF(inline.getHandleName());
        writeNumber(out, inline.getData().length);
        out.write(inline.getData());
    }

    static FrameList read(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        int version = in.readByte();
        if (version != VERSION) {
            throw new IOException(
                    String.format(
                            "A TaskManager acknowledged a checkpoint in version %d of the handle"
                                    + " format, and this process knows version %d only. Run the"
                                    + " same release of DSTL on JobManager and TaskManagers.",
                            version, VERSION));
        }
        int frames = Math.toIntExact(readNumber(in));
        Object[] segments = new Object[frames];
        long[] segmentBytes = new long[frames];
        long[] offsets = new long[frames];
        List<String> directories = new ArrayList<>();
        for (int i = 0; i < frames; i++) {
            int kind = Math.toIntExact(readNumber(in));
            if (kind == SAME) {
                segments[i] = segments[i - 1];
                segmentBytes[i] = segmentBytes[i - 1];
            } else if (kind == INLINE) {
                ByteStreamStateHandle inline = readInline(in);
                segments[i] = inline;
                segmentBytes[i] = inline.getStateSize();
            } else {
                segments[i] = SharedPaths.ofProcess().share(readFile(in, kind, directories));
                segmentBytes[i] = readNumber(in);
            }
            offsets[i] = readNumber(in);
        }
        return new FrameList(segments, segmentBytes, offsets);
    }

    private static Path readFile(DataInputStream in, int kind, List<String> directories)
            throws IOException {
        if (kind == NEW_DIRECTORY) {
            directories.add(in.readUTF());
        }
        int index = kind == NEW_DIRECTORY ? directories.size() - 1 : kind - FIRST_DIRECTORY;
        return new Path(directories.get(index) + in.readUTF());
    }

    private static ByteStreamStateHandle readInline(DataInputStream in) throws IOException {
        String name = in.readUTF();
        byte[] data = new byte[Math.toIntExact(readNumber(in))];
        in.readFully(data);
        return new ByteStreamStateHandle(name, data);
    }

    private static void writeNumber(DataOutputStream out, long number) throws IOException {
        long rest = number;
        while ((rest & ~0x7FL) != 0) {
            out.writeByte((int) (rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }

    private static long readNumber(DataInputStream in) throws IOException {
        long number = 0;
        int shift = 0;
        int next;
        do {
            next = in.readUnsignedByte();
            number |= (long) (next & 0x7F) << shift;
            shift += 7;
        } while ((next & 0x80) != 0 && shift < Long.SIZE);
        return number;
    }
}
