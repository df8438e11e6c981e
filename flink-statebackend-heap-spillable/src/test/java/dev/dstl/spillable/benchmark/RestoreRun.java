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

package dev.dstl.spillable.benchmark;

import dev.dstl.spillable.KeyedBackends;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collection;
import java.util.Collections;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.util.InstantiationUtil;

/**
 * One process of the measurement of restores: a counter per word, from a snapshot in a local file
 * that is in the page cache. Arguments: {@code write} for a snapshot of Flink's heap, {@code
 * write-incremental} for an incremental checkpoint of spilled state, or the placement to restore
 * to; the directory of the snapshot; keys. Prints {@code result NAME VALUE}.
 */
public final class RestoreRun {

    private static final String HANDLE = "handle";
    private static final int SETTLING_CHECKPOINTS = 5;
    private static final int CHECKED_KEYS = 100_000;

    private RestoreRun() {}

    public static void main(String[] args) throws Exception {
        Path directory = Paths.get(args[1]);
        int keys = Integer.parseInt(args[2]);
        if (args[0].equals("write")) {
            write(new HashMapStateBackend(), 0, directory, keys);
        } else if (args[0].equals("write-incremental")) {
            write(Placement.incremental(keys), SETTLING_CHECKPOINTS, directory, keys);
        } else {
            restore(Placement.valueOf(args[0]), directory, keys);
        }
    }

    private static void write(StateBackend stateBackend, int checkpoints, Path directory, int keys)
            throws Exception {
        AbstractKeyedStateBackend<String> backend =
                KeyedBackends.create(
                        stateBackend,
                        StringSerializer.INSTANCE,
                        WordCountRun.KEY_GROUPS,
                        new KeyGroupRange(0, WordCountRun.KEY_GROUPS - 1),
                        Collections.emptyList());
        ValueState<Long> counter = counter(backend);
        for (int i = 0; i < keys; i++) {
            backend.setCurrentKey(WordCountRun.word(i));
            counter.update((long) i);
        }
        for (int i = 1; i <= checkpoints; i++) {
            // lets merges seal what was inserted last
            KeyedBackends.run(
                    KeyedBackends.checkpoint(
                            backend, i, new DiscardedSnapshots(), CheckpointType.CHECKPOINT));
            Thread.sleep(1_000);
        }
        org.apache.flink.core.fs.Path root = new org.apache.flink.core.fs.Path(directory.toUri());
        java.util.concurrent.RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot =
                KeyedBackends.checkpoint(
                        backend,
                        checkpoints + 1L,
                        new FsCheckpointStreamFactory(
                                FileSystem.getLocalFileSystem(), root, root, 0, 1 << 16),
                        CheckpointType.FULL_CHECKPOINT);
        Files.write(
                directory.resolve(HANDLE),
                InstantiationUtil.serializeObject(KeyedBackends.handles(snapshot)));
        backend.dispose();
    }

    private static void restore(Placement placement, Path directory, int keys) throws Exception {
        Collection<KeyedStateHandle> handles =
                InstantiationUtil.deserializeObject(
                        Files.readAllBytes(directory.resolve(HANDLE)),
                        RestoreRun.class.getClassLoader());
        print("read", readMillis(directory));
        long startCpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        long start = System.nanoTime();
        AbstractKeyedStateBackend<String> backend =
                KeyedBackends.create(
                        placement.backend(keys),
                        StringSerializer.INSTANCE,
                        WordCountRun.KEY_GROUPS,
                        new KeyGroupRange(0, WordCountRun.KEY_GROUPS - 1),
                        handles);
        print("restore", (System.nanoTime() - start) / 1e6);
        print(
                "restore-cpu",
                (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - startCpu) / 1e6);
        check(backend, keys);
        backend.dispose();
    }

    private static double readMillis(Path directory) throws Exception {
        byte[] buffer = new byte[1 << 16];
        long start = System.nanoTime();
        try (java.util.stream.Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                try (InputStream in = Files.newInputStream(file)) {
                    while (in.read(buffer) >= 0) {}
                }
            }
        }
        return (System.nanoTime() - start) / 1e6;
    }

    private static void check(AbstractKeyedStateBackend<String> backend, int keys)
            throws Exception {
        if (backend.numKeyValueStateEntries() != keys) {
            throw new IllegalStateException(
                    backend.numKeyValueStateEntries() + " entries restored, expected " + keys);
        }
        ValueState<Long> counter = counter(backend);
        for (int i = 0; i < keys; i += Math.max(1, keys / CHECKED_KEYS)) {
            backend.setCurrentKey(WordCountRun.word(i));
            if (counter.value() == null || counter.value() != i) {
                throw new IllegalStateException(
                        "word " + i + " was restored with " + counter.value());
            }
        }
    }

    private static ValueState<Long> counter(AbstractKeyedStateBackend<String> backend)
            throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("count", Types.LONG));
    }

    private static void print(String result, double value) {
        System.out.println("result " + result + " " + value);
    }
}
