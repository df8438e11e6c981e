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

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files of an incremental checkpoint that are not what was written fail its restore. */
class IncrementalDamageTest extends IncrementalFixture {

    private List<KeyedStateHandle> handles;
    private Path shared;
    private Path metadata;
    private Path entries;

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

    @Test
    void truncatedFiles_failTheRestore() throws Exception {
        for (Path file : new Path[] {shared, metadata}) {
            byte[] bytes = Files.readAllBytes(file);
            Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 3));
            expectRefusal(file, "ends at byte " + (bytes.length - 3), "expected");
            Files.write(file, bytes);
        }
        start(handles);
    }

    @Test
    void filesOfSomethingElse_failTheRestore() throws Exception {
        byte[] foreign = Files.readAllBytes(entries);
        for (Path file : new Path[] {shared, metadata}) {
            byte[] bytes = Files.readAllBytes(file);
            Files.write(file, java.util.Arrays.copyOf(foreign, bytes.length));
            expectRefusal(file, "expected");
            Files.write(file, bytes);
        }
        start(handles);
    }

    @Test
    void killedWhileACheckpointIsWritten_restoresTheOneBefore() throws Exception {
        for (int key = 0; key < 4_000; key += 2) {
            put(key, "lost");
        }
        write(nextId(), CheckpointType.CHECKPOINT);

        start(handles);

        for (int key = 0; key < 4_000; key++) {
            String expected = key == 7 ? "another value" : "a value of some length " + key;
            org.assertj.core.api.Assertions.assertThat(get(key)).isEqualTo(expected);
        }
    }
}
