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

package dev.dstl.benchmarks.workload.words;

import dev.dstl.benchmarks.source.StripedInput;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The lines of a text file, UTF-8, cut into stripes of equal byte length. A line belongs to the
 * stripe in which its first byte lies. Event time is the byte offset.
 */
public final class TextInput implements StripedInput<TextLine> {

    private static final long serialVersionUID = 1L;
    private static final long SMALLEST_STRIPE_BYTES = 64;
    private static final long LARGEST_STRIPE_BYTES = 64 * 1024;
    private static final long STRIPES_WANTED = 500;

    private final File file;
    private final long sizeBytes;
    private final long stripeBytes;

    /**
     * Creates an input.
     *
     * @param sizeBytes size of the file
     * @param file must not change while the job runs
     */
    public TextInput(Path file, long sizeBytes) {
        this.file = file.toAbsolutePath().toFile();
        this.sizeBytes = sizeBytes;
        this.stripeBytes =
                Math.max(
                        SMALLEST_STRIPE_BYTES,
                        Math.min(LARGEST_STRIPE_BYTES, sizeBytes / STRIPES_WANTED));
    }

    @Override
    public long stripeCount() {
        return Math.max(1, (sizeBytes + stripeBytes - 1) / stripeBytes);
    }

    @Override
    public List<TextLine> read(long stripe) throws IOException {
        long start = stripe * stripeBytes;
        long end = Math.min(sizeBytes, start + stripeBytes);
        List<TextLine> lines = new ArrayList<>();
        // From one byte before, so that a line that starts exactly at the stripe is seen to start.
        long position = Math.max(0, start - 1);
        try (InputStream in = open(position)) {
            if (start > 0) {
                position += skipLine(in);
            }
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            while (position < end) {
                long lineStart = position;
                line.reset();
                int next = in.read();
                while (next >= 0 && next != '\n') {
                    line.write(next);
                    next = in.read();
                }
                position += line.size() + 1L;
                if (next < 0 && position < sizeBytes) {
                    throw new IOException(file + " became shorter while the job read it");
                }
                lines.add(new TextLine(lineStart, line.toString(StandardCharsets.UTF_8)));
            }
        }
        return lines;
    }

    @Override
    public long eventTimeMillis(TextLine line) {
        return line.offset;
    }

    private InputStream open(long position) throws IOException {
        FileInputStream in = new FileInputStream(file);
        try {
            in.getChannel().position(position);
            return new BufferedInputStream(in);
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    private static long skipLine(InputStream in) throws IOException {
        long skipped = 1;
        int next = in.read();
        while (next >= 0 && next != '\n') {
            skipped++;
            next = in.read();
        }
        return skipped;
    }
}
