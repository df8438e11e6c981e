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

package dev.dstl.spillable.partition;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Writes partitions of what a plain map has and reads them back. */
abstract class PartitionFixture {

    static final StateIdentity IDENTITY = new StateIdentity(3, "counts", 17);

    @TempDir Path disk;
    final KeyHash hash = new KeyHash(0x1234_5678_9ABC_DEF0L);
    ChunkFiles files;

    @BeforeEach
    final void openFiles() throws IOException {
        files =
                new ChunkFiles(
                        new SpillDirectories(Collections.singletonList(disk)), 1 << 20, () -> 0);
    }

    @AfterEach
    final void closeFiles() throws IOException {
        files.close();
    }

    private static final class Entry {
        final int hash;
        final byte[] key;
        final byte[] value;
        final boolean part;

        Entry(int hash, byte[] key, byte[] value, boolean part) {
            this.hash = hash;
            this.key = key;
            this.value = value;
            this.part = part;
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A hash for each key: the usual one, unless a test wants others. */
    int hashOf(byte[] key) {
        return hash.of(key, key.length);
    }

    /** Writes entries by key; those whose key starts with "part" are parts. */
    SealedPartition write(Map<String, byte[]> entries) throws IOException {
        List<Entry> sorted = new ArrayList<>();
        entries.forEach(
                (key, value) ->
                        sorted.add(
                                new Entry(
                                        hashOf(bytes(key)),
                                        bytes(key),
                                        value,
                                        key.startsWith("part"))));
        sorted.sort((a, b) -> Integer.compareUnsigned(a.hash, b.hash));
        PartitionWriter writer = new PartitionWriter(n -> MemorySegmentFactory.wrap(new byte[n]));
        writer.start(IDENTITY, hash, 0, 0);
        for (Entry entry : sorted) {
            int length = EntryFormat.entryBytes(entry.key.length, entry.value.length);
            MemorySegment segment = MemorySegmentFactory.wrap(new byte[length]);
            EntryFormat.put(
                    segment,
                    0,
                    entry.key,
                    entry.key.length,
                    entry.part,
                    entry.value,
                    entry.value.length);
            writer.add(entry.hash, segment, 0);
        }
        return writer.finish(files);
    }

    /** The value of a key, or null. */
    byte[] get(SealedPartition partition, String key) {
        byte[] wanted = bytes(key);
        int entry = partition.find(wanted, wanted.length, key.startsWith("part"), hashOf(wanted));
        return entry == 0 ? null : value(partition, entry);
    }

    static byte[] value(SealedPartition partition, int entry) {
        int at = partition.base() + entry;
        int length = EntryFormat.entryBytesAt(partition.segment(), at);
        int word = EntryFormat.varintAt(partition.segment(), at);
        int afterWord = at + EntryFormat.varintBytes(word);
        byte[] value = new byte[EntryFormat.varintAt(partition.segment(), afterWord)];
        partition.segment().get(at + length - value.length, value);
        return value;
    }
}
