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

import dev.dstl.spillable.KeyedBackends;
import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import dev.dstl.spillable.config.SpillableOptions;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;

/**
 * Takes checkpoints, then changes its state without an end, so that partitions are merged all the
 * time, and halts as soon as one of its threads is in a certain method.
 *
 * <p>Arguments: where checkpoints go, where the handles of the last one go, where state is spilled,
 * the class and the method.
 */
final class MergingProcess {

    static final int KEYS = 8_000;
    static final int HALTED = 99;

    private static final int ROUNDS_BEFORE = 3;

    private MergingProcess() {}

    public static void main(String[] args) throws Exception {
        CheckpointStore store = new CheckpointStore(Paths.get(args[0]));
        AbstractKeyedStateBackend<Integer> backend = start(Paths.get(args[2]), List.of());
        ValueState<String> state = state(backend);
        for (int round = 1; round <= ROUNDS_BEFORE; round++) {
            change(backend, state, "round " + round);
            List<KeyedStateHandle> handles =
                    new ArrayList<>(
                            KeyedBackends.handles(
                                    KeyedBackends.checkpoint(
                                            backend,
                                            round,
                                            store.streams(),
                                            CheckpointType.CHECKPOINT)));
            store.acknowledge(round, handles);
            store.complete(round);
            backend.notifyCheckpointComplete(round);
        }
        try (ObjectOutputStream out =
                new ObjectOutputStream(Files.newOutputStream(Paths.get(args[1])))) {
            out.writeObject(new ArrayList<>(store.completed()));
        }
        haltIn(args[3], args[4]);
        for (int round = ROUNDS_BEFORE + 1; true; round++) {
            change(backend, state, "lost round " + round);
        }
    }

    static AbstractKeyedStateBackend<Integer> start(Path disk, Collection<KeyedStateHandle> handles)
            throws Exception {
        Configuration config = new Configuration();
        config.setString("state.backend.spillable.directories", disk.toString());
        config.set(SpillableOptions.OFF_HEAP_SIZE, MemorySize.ofMebiBytes(1));
        config.set(SpillableOptions.CHUNK_SIZE, MemorySize.ofMebiBytes(1));
        config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        SpillableStateBackend backend = PlacedBackends.spilled(config);
        return KeyedBackends.create(
                backend, IntSerializer.INSTANCE, 4, new KeyGroupRange(0, 3), handles);
    }

    static ValueState<String> state(AbstractKeyedStateBackend<Integer> backend) throws Exception {
        return backend.getPartitionedState(
                VoidNamespace.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new ValueStateDescriptor<>("state", Types.STRING));
    }

    /** What the last checkpoint has of a key. */
    static String expected(int key) {
        return value(key, "round " + ROUNDS_BEFORE);
    }

    private static String value(int key, String round) {
        return round + " of key " + key + ", and as many bytes as a few merges need".repeat(5);
    }

    private static void change(
            AbstractKeyedStateBackend<Integer> backend, ValueState<String> state, String round)
            throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            state.update(value(key, round));
        }
    }

    /** As a kill does it: no hook runs, no thread ends, no file is closed. */
    private static void haltIn(String className, String method) {
        Thread watch =
                new Thread(
                        () -> {
                            while (true) {
                                for (StackTraceElement[] stack :
                                        Thread.getAllStackTraces().values()) {
                                    for (StackTraceElement frame : stack) {
                                        if (frame.getMethodName().equals(method)
                                                && frame.getClassName().equals(className)) {
                                            Runtime.getRuntime().halt(HALTED);
                                        }
                                    }
                                }
                            }
                        });
        watch.setDaemon(true);
        watch.start();
    }
}
