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

package dev.dstl.benchmarks.simulated.store;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts the requests of one store in one process. Thread-safe. Backed by a mapped file when
 * another process is to read them: such counts survive a killed process.
 *
 * <pre>
 *  +---------------+------------------+------------------+---------------+------------+
 *  | magic, 8 bytes | requests by type | failures by type | bytes written | bytes read |
 *  +---------------+------------------+------------------+---------------+------------+
 *  big-endian longs, types in the order of RequestType.slot()
 * </pre>
 */
public final class RequestCounters {

    private static final long MAGIC = 0x5349_4d43_4f55_4e54L;
    private static final int FILE_BYTES = Long.BYTES * (1 + RequestCounts.SLOTS);
    private static final String SUFFIX = ".counts";
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final ByteBuffer memory;

    private RequestCounters(ByteBuffer memory) {
        this.memory = memory;
    }

    /** Creates counters that only this process sees. */
    public static RequestCounters inMemory() {
        // Atomic access needs off-heap memory, aligned.
        return new RequestCounters(
                ByteBuffer.allocateDirect(FILE_BYTES + Long.BYTES).alignedSlice(Long.BYTES));
    }

    /** Creates counters in a new file of a directory, which is created if it does not exist. */
    public static RequestCounters mapped(Path directory, String name) throws IOException {
        Files.createDirectories(directory);
        try (FileChannel file =
                FileChannel.open(
                        directory.resolve(name + SUFFIX),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            ByteBuffer memory = file.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES);
            LONGS.setVolatile(memory, 0, MAGIC);
            return new RequestCounters(memory);
        }
    }

    /** Returns the sum over all processes that ever counted in {@code directory}. */
    public static RequestCounts sumOf(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return RequestCounts.none();
        }
        RequestCounts sum = RequestCounts.none();
        for (Path file : countFiles(directory)) {
            sum = sum.plus(read(file));
        }
        return sum;
    }

    private static List<Path> countFiles(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(SUFFIX))
                    .collect(Collectors.toList());
        }
    }

    private static RequestCounts read(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        if (bytes.remaining() != FILE_BYTES) {
            throw new IOException(
                    "Not a counter file: "
                            + file
                            + " has "
                            + bytes.remaining()
                            + " bytes, expected "
                            + FILE_BYTES);
        }
        long magic = bytes.getLong();
        if (magic == 0) {
            // Its process has created the file and not counted yet.
            return RequestCounts.none();
        }
        if (magic != MAGIC) {
            throw new IOException("Not a counter file: " + file + " starts with another magic");
        }
        long[] slots = new long[RequestCounts.SLOTS];
        bytes.asLongBuffer().get(slots);
        return new RequestCounts(slots);
    }

    /** Returns the counts of this process. */
    public RequestCounts counts() {
        long[] slots = new long[RequestCounts.SLOTS];
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = (long) LONGS.getVolatile(memory, offsetOf(slot));
        }
        return new RequestCounts(slots);
    }

    void countRequest(RequestType type) {
        add(RequestCounts.requestSlot(type), 1);
    }

    void countFailure(RequestType type) {
        add(RequestCounts.failureSlot(type), 1);
    }

    void countBytesWritten(long bytes) {
        add(RequestCounts.BYTES_WRITTEN, bytes);
    }

    void countBytesRead(long bytes) {
        add(RequestCounts.BYTES_READ, bytes);
    }

    private void add(int slot, long amount) {
        long ignored = (long) LONGS.getAndAdd(memory, offsetOf(slot), amount);
    }

    private static int offsetOf(int slot) {
        return Long.BYTES * (1 + slot);
    }
}
