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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Random;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files of an incremental checkpoint that are not what was written fail its restore. */
class IncrementalDamageTest extends IncrementalFixture {

    private static final int VERSION_AT = 8;

    private List<KeyedStateHandle> handles;
    private Path shared;
    private Path metadata;
    private Path entries;

    /** Half of the key groups stay on the heap. */
    @Override
    SpillableStateBackend stateBackend() {
        return PlacedBackends.firstGroupsSpilled(
                new Configuration().set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true),
                KEY_GROUPS / 2);
    }

    @BeforeEach
    void writeCheckpoint() throws Exception {
        for (int key = 0; key < 4_000; key++) {
            put(key, "a value of some length " + key);
        }
        settledCheckpoint();
        put(7, "another value");
        checkpoint();
        handles = store.completed();
        IncrementalRemoteKeyedStateHandle handle =
                (IncrementalRemoteKeyedStateHandle) handles.get(0);
        shared = CheckpointStore.path(handle.getSharedState().get(0).getHandle());
        metadata = CheckpointStore.path(handle.getPrivateState().get(0).getHandle());
        entries = CheckpointStore.path(handle.getMetaDataStateHandle());
    }

    private void expectRefusal(Path file, String... texts) {
        org.assertj.core.api.AbstractThrowableAssert<?, ?> refusal =
                assertThatThrownBy(() -> start(handles)).rootCause();
        refusal.hasMessageContaining(file.getFileName().toString());
        for (String text : texts) {
            refusal.hasMessageContaining(text);
        }
        backend = null;
    }

    private static void flip(Path file, int offset) throws Exception {
        byte[] bytes = Files.readAllBytes(file);
        bytes[offset] ^= 0x10;
        Files.write(file, bytes);
    }

    @Test
    void flippedBitAnywhereInASharedFile_failsTheRestore() throws Exception {
        Random random = new Random(1);
        int length = (int) Files.size(shared);
        for (int i = 0; i < 12; i++) {
            int offset = i == 0 ? 0 : i == 1 ? length - 1 : random.nextInt(length);
            flip(shared, offset);
            expectRefusal(shared, "at byte", "expected");
            flip(shared, offset);
        }
        start(handles);
    }

    @Test
    void flippedBitAnywhereInTheDirectory_failsTheRestore() throws Exception {
        int length = (int) Files.size(metadata);
        for (int offset = 0; offset < length; offset += 1 + length / 25) {
            flip(metadata, offset);
            expectRefusal(metadata, "at byte", "expected");
            flip(metadata, offset);
        }
        start(handles);
    }

    /** Magic and version are in no checksum. */
    @Test
    void flippedBitAtTheStartOfTheDirectory_failsTheRestoreOrDoesNoHarm() throws Exception {
        byte[] bytes = Files.readAllBytes(metadata);
        for (int bit = 0; bit < Byte.SIZE * DirectoryFormat.HEADER_BYTES; bit++) {
            byte[] flipped = bytes.clone();
            flipped[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            Files.write(metadata, flipped);
            int version = BlockOutput.getInt(flipped, VERSION_AT);
            if (version == 2) {
                // Version 3 can be read so.
                start(handles);
                verify();
            } else {
                int at = version == DirectoryFormat.VERSION ? 0 : VERSION_AT;
                expectRefusal(metadata, "at byte " + at, "expected");
            }
        }
        Files.write(metadata, bytes);
        start(handles);
    }

    @Test
    void flippedBitAnywhereInTheHeapEntries_failsTheRestore() throws Exception {
        int length = (int) Files.size(entries);
        assertThat(length).as("several blocks").isGreaterThan(FileChecksums.BLOCK_BYTES);
        for (int i = 0; i <= 24; i++) {
            int offset = (int) ((length - 1L) * i / 24);
            flip(entries, offset);
            expectRefusal(
                    entries,
                    "at byte " + offset / FileChecksums.BLOCK_BYTES * FileChecksums.BLOCK_BYTES,
                    "expected");
            flip(entries, offset);
        }
        start(handles);
    }

    @Test
    void truncatedFiles_failTheRestore() throws Exception {
        for (Path file : new Path[] {shared, metadata, entries}) {
            byte[] bytes = Files.readAllBytes(file);
            Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 3));
            expectRefusal(file, "ends at byte " + (bytes.length - 3), "expected");
            Files.write(file, bytes);
        }
        start(handles);
    }

    @Test
    void filesOfSomethingElse_failTheRestore() throws Exception {
        byte[] bytesOfEntries = Files.readAllBytes(entries);
        byte[] bytesOfPartitions = Files.readAllBytes(shared);
        for (Path file : new Path[] {shared, metadata, entries}) {
            byte[] bytes = Files.readAllBytes(file);
            byte[] foreign = file == entries ? bytesOfPartitions : bytesOfEntries;
            Files.write(file, java.util.Arrays.copyOf(foreign, bytes.length));
            expectRefusal(file, "expected");
            Files.write(file, bytes);
        }
        start(handles);
    }

    @Test
    void checkpointOfVersionOne_hasNoChecksumsOfHeapEntries_andIsRestored() throws Exception {
        byte[] bytes = Files.readAllBytes(metadata);
        int from = DirectoryFormat.HEADER_BYTES;
        ByteArrayInputStream second = new ByteArrayInputStream(bytes, from, bytes.length - from);
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        DataOutputStream header = new DataOutputStream(first);
        header.writeLong(DirectoryFormat.MAGIC);
        header.writeInt(1);
        DataInputStream in = new DataInputStream(new BlockInput(second, "", 0));
        BlockOutput blocks = new BlockOutput(first);
        DataOutputStream out = new DataOutputStream(blocks);
        out.writeInt(in.readInt());
        int keyGroups = in.readInt();
        out.writeInt(keyGroups);
        out.write(in.readNBytes(Long.BYTES * keyGroups));
        in.readLong();
        in.readNBytes(Integer.BYTES * in.readInt());
        out.write(in.readAllBytes());
        blocks.finish();
        Files.write(metadata, first.toByteArray());

        start(handles);

        verify();
    }

    private void verify() throws Exception {
        for (int key = 0; key < 4_000; key++) {
            String expected = key == 7 ? "another value" : "a value of some length " + key;
            assertThat(get(key)).isEqualTo(expected);
        }
    }

    @Test
    void heapEntriesOfAnotherCheckpoint_failTheRestore() throws Exception {
        for (int key = 0; key < 4_000; key++) {
            // As long as it was.
            put(key, "A value of some length " + key);
        }
        KeyedStateHandle other = write(nextId(), CheckpointType.CHECKPOINT);
        Path otherEntries =
                CheckpointStore.path(
                        ((IncrementalRemoteKeyedStateHandle) other).getMetaDataStateHandle());
        Files.copy(otherEntries, entries, StandardCopyOption.REPLACE_EXISTING);

        expectRefusal(entries, "at byte 0", "expected");
    }

    @Test
    void killedWhileACheckpointIsWritten_restoresTheOneBefore() throws Exception {
        for (int key = 0; key < 4_000; key += 2) {
            put(key, "lost");
        }
        write(nextId(), CheckpointType.CHECKPOINT);

        start(handles);

        verify();
    }
}
