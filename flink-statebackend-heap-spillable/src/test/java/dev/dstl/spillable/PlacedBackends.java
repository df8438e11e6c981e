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

package dev.dstl.spillable;

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.spill.SpillCounters;
import dev.dstl.spillable.spill.SpillMetrics;
import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.Residency;
import dev.dstl.spillable.table.StateRegistry;
import dev.dstl.spillable.table.StateTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Random;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;

/** Backends whose state is where a test wants it. */
public final class PlacedBackends {

    private PlacedBackends() {}

    public static SpillableStateBackend onHeap() {
        return new SpillableStateBackend(SpillConfig.defaults(), (states, space) -> idle());
    }

    /** Everything leaves the heap before the next key is selected. */
    public static SpillableStateBackend spilled(ReadableConfig config) {
        return new SpillableStateBackend(
                SpillConfig.of(config), (states, space) -> new SpillEverything(states));
    }

    /** As the other {@code spilled}, with metrics of memory and files. */
    static SpillableStateBackend spilled(ReadableConfig config, Gauges gauges) {
        return new SpillableStateBackend(
                SpillConfig.of(config),
                (states, space) -> {
                    SpillArbiter arbiter = new SpillArbiter(() -> 0, 1000, member -> () -> {});
                    SpillMetrics.register(gauges, new SpillCounters(), space, arbiter);
                    return new SpillEverything(states);
                });
    }

    /**
     * The first {@code groups} key groups of the first state leave the heap, the others stay. Costs
     * nothing from the second key on.
     */
    public static SpillableStateBackend firstGroupsSpilled(Configuration config, int groups) {
        return new SpillableStateBackend(
                SpillConfig.of(config), (states, space) -> new SpillFirstGroups(states, groups));
    }

    /** Between any two selections of a key some entries move, in either direction. */
    public static SpillableStateBackend random(ReadableConfig config, long seed) {
        return new SpillableStateBackend(
                SpillConfig.of(config),
                (states, space) -> new MoveAtRandom(states, new Random(seed)));
    }

    /** Spills everything as soon as {@code spill} says so; never loads. */
    public static SpillableStateBackend spilledOnceAsked(
            Configuration config, java.util.function.BooleanSupplier spill) {
        return new SpillableStateBackend(
                SpillConfig.of(config),
                (states, space) -> {
                    SpillEverything spiller = new SpillEverything(states);
                    return new RestoringMover() {
                        @Override
                        public void keySelected() {
                            if (spill.getAsBoolean()) {
                                spiller.keySelected();
                            }
                        }

                        @Override
                        public void close() {}
                    };
                });
    }

    private static StateMover idle() {
        return new RestoringMover() {
            @Override
            public void keySelected() {}

            @Override
            public void close() {}
        };
    }

    /** Takes no more notice of a restored entry than of a selected key. */
    private abstract static class RestoringMover implements StateMover {

        @Override
        public boolean restoresToHeap(long serializedBytes) {
            keySelected();
            return true;
        }

        @Override
        public void keyGroupRestored() {}
    }

    private static final class SpillEverything extends RestoringMover {

        private final StateRegistry<?> states;

        SpillEverything(StateRegistry<?> states) {
            this.states = states;
        }

        @Override
        public void keySelected() {
            try {
                for (StateTable<?, ?, ?> table : states.tables()) {
                    for (int i = 0; i < table.placement().groupCount(); i++) {
                        if (table.placement().residency(i) == Residency.ON_HEAP) {
                            table.placement().startSpill(i);
                        }
                        if (table.placement().residency(i) == Residency.SPILLING) {
                            table.placement().spill(i, Integer.MAX_VALUE);
                        }
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {}
    }

    private static final class SpillFirstGroups extends RestoringMover {

        private final StateRegistry<?> states;
        private final int groups;
        private boolean done;

        SpillFirstGroups(StateRegistry<?> states, int groups) {
            this.states = states;
            this.groups = groups;
        }

        @Override
        public void keySelected() {
            if (done || states.tables().isEmpty()) {
                return;
            }
            done = true;
            try {
                for (StateTable<?, ?, ?> table : states.tables()) {
                    for (int i = 0; i < groups; i++) {
                        // Others come from a checkpoint as they were.
                        if (table.placement().residency(i) == Residency.ON_HEAP) {
                            table.placement().startSpill(i);
                            table.placement().spill(i, Integer.MAX_VALUE);
                        }
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {}
    }

    private static final class MoveAtRandom extends RestoringMover {

        private final StateRegistry<?> states;
        private final Random random;

        MoveAtRandom(StateRegistry<?> states, Random random) {
            this.states = states;
            this.random = random;
        }

        @Override
        public void keySelected() {
            try {
                for (StateTable<?, ?, ?> table : states.tables()) {
                    for (int i = 0; i < table.placement().groupCount(); i++) {
                        move(table, i);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Mostly so few that large maps and lists are under way for some time. */
        private int steps() {
            return random.nextInt(16) == 0 ? 500 : random.nextInt(3);
        }

        private void move(StateTable<?, ?, ?> table, int group) throws IOException {
            boolean turn = random.nextInt(8) == 0;
            switch (table.placement().residency(group)) {
                case ON_HEAP:
                    if (turn) {
                        table.placement().startSpill(group);
                    }
                    break;
                case SPILLING:
                    if (turn) {
                        table.placement().startLoad(group);
                    } else {
                        table.placement().spill(group, steps());
                    }
                    break;
                case SPILLED:
                    if (turn) {
                        table.placement().startLoad(group);
                    }
                    break;
                default:
                    if (turn) {
                        table.placement().startSpill(group);
                    } else {
                        table.placement().load(group, steps());
                    }
            }
        }

        @Override
        public void close() {}
    }
}
