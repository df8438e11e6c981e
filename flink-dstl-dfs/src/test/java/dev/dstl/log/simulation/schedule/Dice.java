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

package dev.dstl.log.simulation.schedule;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Source of all random choices of a simulation. The same seed gives the same choices in the same
 * order.
 */
public final class Dice {

    private final long seed;
    private final SplittableRandom random;

    public Dice(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
    }

    /** Returns independent dice of the same seed. */
    public Dice others(int number) {
        return new Dice(31 * seed + number);
    }

    /** Returns a number in {@code [0, bound)}. */
    public int below(int bound) {
        return random.nextInt(bound);
    }

    /** Returns a number in {@code [from, to)}. */
    public long between(long from, long to) {
        return from + random.nextLong(to - from);
    }

    public boolean percent(int chance) {
        return random.nextInt(100) < chance;
    }

    /** Returns a number in {@code [0, 1)}. */
    public double fraction() {
        return random.nextDouble();
    }

    public long bits() {
        return random.nextLong();
    }

    @SafeVarargs
    public final <T> T oneOf(T... choices) {
        return choices[below(choices.length)];
    }

    public <T> T oneOf(List<T> choices) {
        return choices.get(below(choices.size()));
    }

    /** Returns a mostly small number, sometimes up to the limit, as latencies are distributed. */
    public long skewed(long limit) {
        long bound = Math.max(1, limit >> below(8));
        return random.nextLong(bound + 1);
    }
}
