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

package dev.dstl.changelog.differential.history;

import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.StateKind;
import dev.dstl.changelog.differential.job.StateSpec;
import dev.dstl.changelog.differential.schema.TypeFamily;
import dev.dstl.changelog.differential.world.Deployment;
import dev.dstl.changelog.differential.world.LogOptions;
import dev.dstl.changelog.differential.world.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A job, how it starts, and what happens to it. Immutable. */
public final class History {

    private static final int STATES = 5;
    private static final int MIN_STEPS = 20;
    private static final int MAX_STEPS = 100;

    private static final TypeFamily[] VALUES = {
        TypeFamily.LONG,
        TypeFamily.STRING,
        TypeFamily.VERSIONED,
        TypeFamily.POJO,
        TypeFamily.POJO_WITHOUT_SUBCLASSES,
        TypeFamily.ENUM,
        TypeFamily.KRYO,
        TypeFamily.AVRO,
        TypeFamily.TUPLE
    };

    private static final TypeFamily[] USER_KEYS = {
        TypeFamily.STRING, TypeFamily.LONG, TypeFamily.POJO, TypeFamily.VERSIONED
    };

    private static final TypeFamily[] KEYS = {
        TypeFamily.LONG,
        TypeFamily.STRING,
        TypeFamily.STRING,
        TypeFamily.POJO,
        TypeFamily.KRYO,
        TypeFamily.ENTITY
    };

    private static final TypeFamily[] NAMESPACES = {
        TypeFamily.STRING, TypeFamily.LONG, TypeFamily.POJO
    };

    /**
     * Of a job whose values change, some of them: what changes keys, namespaces and many kinds of
     * values at once is mostly refused, and then nothing migrates.
     */
    private static final TypeFamily[] UNCHANGING = {TypeFamily.STRING, TypeFamily.LONG};

    private static final List<StepType> NEW_BASE =
            List.of(
                    StepType.OPERATE,
                    StepType.MATERIALIZE,
                    StepType.END_MATERIALIZATION,
                    StepType.TRIGGER);

    private final long seed;
    private final JobShape shape;
    private final LogOptions options;
    private final Deployment start;
    private final List<Step> steps;

    private History(
            long seed, JobShape shape, LogOptions options, Deployment start, List<Step> steps) {
        this.seed = seed;
        this.shape = shape;
        this.options = options;
        this.start = start;
        this.steps = List.copyOf(steps);
    }

    /** Returns the history of a seed, which is deterministic. */
    public static History of(long seed) {
        Random random = new Random(0x9E3779B97F4A7C15L * (seed + 1));
        JobShape shape = shape(random, seed % 2 == 0);
        LogOptions options =
                new LogOptions(
                        random.nextBoolean() ? 0 : 16 << 10,
                        2 + random.nextInt(3),
                        random.nextInt(3) > 0 ? 0 : 2 << 10,
                        random.nextInt(3) == 0,
                        1 + random.nextInt(2),
                        1 + random.nextInt(2));
        Deployment start =
                new Deployment(
                        random.nextInt(3),
                        1 + random.nextInt(3),
                        storage(random),
                        random.nextInt(8) > 0);
        List<Step> steps = new ArrayList<>();
        int count = MIN_STEPS + random.nextInt(MAX_STEPS - MIN_STEPS);
        while (steps.size() < count) {
            if (random.nextInt(30) == 0) {
                addBases(steps, random);
            }
            StepType type = type(random);
            steps.add(step(seed % 4 == 3 ? type.whereTasksLive() : type, random));
        }
        if (!shape.registersAtOpen() && seed % 4 != 3) {
            addUpgrade(steps, shape, new Random(seed));
        }
        return new History(seed, start.storage().supported(shape), options, start, steps);
    }

    /**
     * Adds an upgrade of a job whose state then changes in one subtask only. So a checkpoint has
     * the state in two versions, and a single subtask restores both.
     */
    private static void addUpgrade(List<Step> steps, JobShape shape, Random random) {
        List<Integer> changing =
                IntStream.range(0, shape.states().size())
                        .filter(state -> shape.states().get(state).values().changes())
                        .boxed()
                        .collect(Collectors.toList());
        if (changing.isEmpty()) {
            return;
        }
        int state = changing.get(random.nextInt(changing.size()));
        List<Step> upgrade = new ArrayList<>();
        for (int key = 0; key < JobShape.KEYS; key++) {
            upgrade.add(write(state, key, random));
        }
        int nativeSavepoint = 3;
        int twoOrThreeSubtasks = 2 + random.nextInt(4);
        int withChangelog = 1;
        int nextGeneration = 2;
        upgrade.add(
                new Step(
                        StepType.RESUBMIT,
                        nativeSavepoint,
                        random.nextInt(3),
                        twoOrThreeSubtasks,
                        withChangelog,
                        nextGeneration,
                        0,
                        0));
        upgrade.add(write(state, random.nextInt(JobShape.KEYS), random));
        upgrade.add(new Step(StepType.TRIGGER, 1));
        upgrade.add(new Step(StepType.ACKNOWLEDGE_ALL, 0, 0));
        upgrade.add(new Step(StepType.RESCALE, 0, random.nextInt(1 << 16)));
        steps.addAll(random.nextInt(steps.size()), upgrade);
    }

    private static Step write(int state, int key, Random random) {
        return new Step(StepType.OPERATE, 0, 0, state, key, 0, random.nextInt(1000));
    }

    /** Adds checkpoints, some of which are overtaken by later ones that share fewer files. */
    private static void addBases(List<Step> steps, Random random) {
        for (int round = 2 + random.nextInt(4); round > 0; round--) {
            NEW_BASE.forEach(type -> steps.add(step(type, random)));
            if (random.nextInt(2) == 0) {
                steps.add(step(StepType.ACKNOWLEDGE_ALL, random));
            }
        }
        steps.add(step(StepType.ACKNOWLEDGE, random));
    }

    private static Step step(StepType type, Random random) {
        int[] numbers = new int[type.names().length];
        for (int n = 0; n < numbers.length; n++) {
            numbers[n] = random.nextInt(1 << 16);
        }
        return new Step(type, numbers);
    }

    private static JobShape shape(Random random, boolean meetsClasses) {
        boolean evolves = random.nextInt(3) == 0;
        TypeFamily[] families = evolves ? evolving(random) : VALUES;
        List<StateSpec> states = new ArrayList<>();
        for (int state = 0; state < STATES; state++) {
            states.add(
                    new StateSpec(
                            "state " + state,
                            pick(random, StateKind.values()),
                            pick(random, families),
                            pick(random, evolves ? UNCHANGING : USER_KEYS),
                            random.nextInt(5) == 0));
        }
        return new JobShape(
                pick(random, evolves ? UNCHANGING : KEYS),
                pick(random, evolves ? UNCHANGING : NAMESPACES),
                random.nextInt(3) == 0 ? 2 : 1,
                states,
                random.nextBoolean(),
                meetsClasses);
    }

    private static TypeFamily[] evolving(Random random) {
        TypeFamily changing = pick(random, TypeFamily.reversible());
        return new TypeFamily[] {changing, changing, TypeFamily.LONG, TypeFamily.STRING};
    }

    /** Prefers the heap: opening RocksDB takes about fifty times as long. */
    private static Storage storage(Random random) {
        return pick(
                random,
                Storage.HASHMAP,
                Storage.HASHMAP,
                Storage.HASHMAP,
                Storage.SPILLABLE,
                Storage.SPILLABLE,
                Storage.ROCKSDB_FULL,
                Storage.ROCKSDB_INCREMENTAL,
                Storage.ROCKSDB_INCREMENTAL,
                Storage.ROCKSDB_WITH_TIMERS_ON_HEAP);
    }

    @SafeVarargs
    private static <T> T pick(Random random, T... values) {
        return values[random.nextInt(values.length)];
    }

    private static StepType type(Random random) {
        int choice = random.nextInt(100);
        for (StepType type : StepType.values()) {
            choice -= type.percent();
            if (choice < 0) {
                return type;
            }
        }
        throw new AssertionError("The steps add up to less than a hundred percent");
    }

    /** Returns the same history with fewer steps. */
    public History with(List<Step> fewer) {
        return new History(seed, shape, options, start, fewer);
    }

    public long seed() {
        return seed;
    }

    public JobShape shape() {
        return shape;
    }

    public LogOptions options() {
        return options;
    }

    public Deployment start() {
        return start;
    }

    public List<Step> steps() {
        return steps;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append("seed ").append(seed).append(": ").append(shape).append('\n');
        text.append("  ").append(options).append('\n');
        text.append("  ").append(start).append('\n');
        steps.forEach(step -> text.append("  ").append(step).append('\n'));
        return text.toString();
    }
}
