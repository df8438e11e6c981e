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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;

/**
 * Takes checkpoints to a small disk, or local copies of them, which gets full in the middle of one,
 * and checks what is left and that all goes on once there is room.
 *
 * <p>Arguments: {@code remote} or {@code local}, a small disk and a large one. Prints {@code
 * correct} and how often the disk was full.
 */
final class FullDiskProcess extends IncrementalFixture {

    private static final int KEYS = 6_000;
    private static final String BALLAST = "ballast";
    private static final int PAGE_BYTES = 4096;

    /** Shared files are some MB, what is written each time some KB. */
    private static final long[] ROOM = {
        0, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20, 3 << 19
    };

    private final Path small;
    private final LocalStore local;
    private long lastId;
    private String suffix = "";

    private FullDiskProcess(Path small, Path checkpoints, LocalStore local) {
        this.small = small;
        this.local = local;
        this.directory = checkpoints;
    }

    public static void main(String[] args) throws Exception {
        Path small = Paths.get(args[1]);
        Path large = Paths.get(args[2]);
        boolean remote = args[0].equals("remote");
        FullDiskProcess process =
                remote
                        ? new FullDiskProcess(small, small, new LocalStore(large))
                        : new FullDiskProcess(small, large, new LocalStore(small));
        process.startEmpty();
        int full = remote ? process.fillRemoteDisk() : process.fillLocalDisk();
        process.stop();
        System.out.println("correct full=" + full);
    }

    @Override
    Environment environment() {
        return local.environment();
    }

    @Override
    void completed(long id, SnapshotResult<KeyedStateHandle> checkpoint) {
        local.store(id, checkpoint);
        local.confirm(id);
        lastId = id;
    }

    private void change() throws Exception {
        suffix += "!";
        for (int key = 0; key < KEYS; key++) {
            put(key, value(key));
        }
    }

    private String value(int key) {
        return "value " + key + ", with some bytes to write".repeat(8) + suffix;
    }

    private void verify() throws Exception {
        for (int key = 0; key < KEYS; key++) {
            require(get(key).equals(value(key)), "value of key " + key);
        }
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException("Wrong: " + what);
        }
    }

    private int fillRemoteDisk() throws Exception {
        change();
        settledCheckpoint();
        int full = 0;
        for (long room : ROOM) {
            change();
            leave(room);
            long id = nextId();
            try {
                // It is never acknowledged.
                snapshot(id, CheckpointType.CHECKPOINT).discardState();
            } catch (ExecutionException e) {
                require(isFull(e), "failure " + e);
                full++;
            }
            backend.notifyCheckpointAborted(id);
            Files.delete(small.resolve(BALLAST));
            require(
                    store.filesOnDisk().equals(CheckpointStore.files(store.completed())),
                    "files of the checkpoint storage");
            verify();
            checkpoint();
        }
        start(store.completed());
        verify();
        return full;
    }

    private int fillLocalDisk() throws Exception {
        change();
        settledCheckpoint();
        int full = 0;
        for (long room : ROOM) {
            change();
            Set<Path> before = local.files();
            leave(room);
            long id = nextId();
            SnapshotResult<KeyedStateHandle> result = snapshot(id, CheckpointType.CHECKPOINT);
            Files.delete(small.resolve(BALLAST));
            require(result.getJobManagerOwnedSnapshot() != null, "the checkpoint itself");
            if (result.getTaskLocalSnapshot() == null) {
                full++;
                require(local.files().equals(before), "files of local copies");
            }
            // As if it was acknowledged too late.
            result.discardState();
            backend.notifyCheckpointAborted(id);
            require(local.files().equals(before), "files of local copies after it was discarded");
            verify();
            checkpoint();
            require(local.retrieve(lastId) != null, "a local copy once there is room");
        }
        loseTheCheckpointStorage();
        start(Collections.singletonList(local.retrieve(lastId)));
        verify();
        return full;
    }

    private void loseTheCheckpointStorage() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                Files.delete(file);
            }
        }
    }

    /** Leaves so many bytes free on the small disk. */
    private void leave(long bytes) throws IOException {
        long free = Files.getFileStore(small).getUsableSpace();
        byte[] page = new byte[PAGE_BYTES];
        try (java.io.OutputStream out = Files.newOutputStream(small.resolve(BALLAST))) {
            for (long left = free - bytes; left >= PAGE_BYTES; left -= PAGE_BYTES) {
                out.write(page);
            }
        }
    }

    private static boolean isFull(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains("No space left on device")) {
                return true;
            }
        }
        return false;
    }
}
