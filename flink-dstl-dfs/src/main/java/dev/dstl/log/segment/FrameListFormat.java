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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * The bytes of a {@link FrameList} in the acknowledgement of a checkpoint, and in the list of
 * completed checkpoints that Flink stores for high availability.
 *
 * <pre>
 *   version (1 byte) = 1
 *   number of frames
 *   per frame:   segment = 0   the one of the frame before
 *                        | 1   inline: text, number of bytes, bytes
 *                        | 2   a file: text of the directory, name, bytes of the file
 *                        | n   a file in the directory of the first file with 2, for n = 3, of the
 *                              second, for n = 4, and so on: name, bytes of the file
 *                offset of the frame
 *   name:        0, text
 *                | a, b        a-th attempt of a segment, whose number is that of the file before
 *                              (0 for the first) plus b / 2, or if b is odd, minus (b + 1) / 2
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
    private static final int TEXT = 0;

    /** File name as written by {@link dev.dstl.log.store.SegmentName}. */
    private static final Pattern NAME =
            Pattern.compile("([1-9][0-9]{0,17})-([1-9][0-9]{0,8})\\.seg");

    private final Map<String, Integer> directories = new HashMap<>();
    private final List<String> directoryList = new ArrayList<>();
    private long lastSequence;

    private FrameListFormat() {}

    static byte[] write(Object[] segments, long[] segmentBytes, long[] offsets) {
        return new FrameListFormat().writeAll(segments, segmentBytes, offsets);
    }

    private byte[] writeAll(Object[] segments, long[] segmentBytes, long[] offsets) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        try {
            out.writeByte(VERSION);
            writeNumber(out, segments.length);
            for (int i = 0; i < segments.length; i++) {
                if (i > 0 && segments[i] == segments[i - 1]) {
                    writeNumber(out, SAME);
                } else if (segments[i] instanceof Path) {
                    writeFile(out, segments[i].toString());
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

    private void writeFile(DataOutputStream out, String path) throws IOException {
        int nameStart = path.lastIndexOf('/') + 1;
        String directory = path.substring(0, nameStart);
        Integer known = directories.putIfAbsent(directory, FIRST_DIRECTORY + directories.size());
        if (known == null) {
            writeNumber(out, NEW_DIRECTORY);
            out.writeUTF(directory);
        } else {
            writeNumber(out, known);
        }
        writeName(out, path.substring(nameStart));
    }

    private void writeName(DataOutputStream out, String name) throws IOException {
        Matcher matcher = NAME.matcher(name);
        if (matcher.matches()) {
            long sequence = Long.parseLong(matcher.group(1));
            long step = sequence - lastSequence;
            writeNumber(out, Long.parseLong(matcher.group(2)));
            writeNumber(out, (step << 1) ^ (step >> (Long.SIZE - 1)));
            lastSequence = sequence;
        } else {
            writeNumber(out, TEXT);
            out.writeUTF(name);
        }
    }

    private String readName(DataInputStream in) throws IOException {
        long attempt = readNumber(in);
        if (attempt == TEXT) {
            return in.readUTF();
        }
        long step = readNumber(in);
        lastSequence += (step >>> 1) ^ -(step & 1);
        return lastSequence + "-" + attempt + ".seg";
    }

    private static void writeInline(DataOutputStream out, ByteStreamStateHandle inline)
            throws IOException {
        writeNumber(out, INLINE);
        out.writeUTF(inline.getHandleName());
        writeNumber(out, inline.getData().length);
        out.write(inline.getData());
    }

    static FrameList read(byte[] bytes) throws IOException {
        return new FrameListFormat().readAll(bytes);
    }

    private FrameList readAll(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        int version = in.readByte();
        if (version != VERSION) {
            throw new IOException(
                    String.format(
                            "A changelog handle has version %d, and this process knows version %d"
                                    + " only. Run the same release of DSTL on JobManager and"
                                    + " TaskManagers, and none older than before.",
                            version, VERSION));
        }
        int frames = Math.toIntExact(readNumber(in));
        Object[] segments = new Object[frames];
        long[] segmentBytes = new long[frames];
        long[] offsets = new long[frames];
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
                segments[i] = SharedPaths.ofProcess().share(readFile(in, kind));
                segmentBytes[i] = readNumber(in);
            }
            offsets[i] = readNumber(in);
        }
        return new FrameList(segments, segmentBytes, offsets);
    }

    private Path readFile(DataInputStream in, int kind) throws IOException {
        if (kind == NEW_DIRECTORY) {
            directoryList.add(in.readUTF());
        }
        int index = kind == NEW_DIRECTORY ? directoryList.size() - 1 : kind - FIRST_DIRECTORY;
        return new Path(directoryList.get(index) + readName(in));
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
