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

package dev.dstl.log.simulation.world;

import dev.dstl.log.simulation.schedule.Dice;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** The conditions of a seed, and how often each of them has had an effect so far. */
public final class Conditions {

    /**
     * Names that a seed may have at most, separated by commas, to find out which a failure needs;
     * those with a plus sign it has for sure.
     */
    private static final String ALLOWED = System.getProperty("simulation.conditions", "");

    private static final Set<String> NAMES = Set.of(ALLOWED.split(","));

    private final Set<Condition> present = EnumSet.noneOf(Condition.class);
    private final Map<Condition, Long> occurrences = new EnumMap<>(Condition.class);

    /** Draws the conditions of a seed. */
    public Conditions(Dice dice) {
        for (Condition condition : Condition.values()) {
            Dice own = condition.dice() == 0 ? dice : dice.others(condition.dice());
            boolean drawn = own.percent(condition.percent()) && isAllowed(condition);
            if (drawn || NAMES.contains("+" + condition)) {
                present.add(condition);
            }
        }
        if (present.contains(Condition.DAMAGED_DISKS)) {
            present.add(Condition.LOCAL_COPIES);
        }
    }

    private static boolean isAllowed(Condition condition) {
        return ALLOWED.isEmpty() || NAMES.contains(condition.name());
    }

    /** Whether the seed has a condition. */
    public boolean has(Condition condition) {
        return present.contains(condition);
    }

    /** Records that a condition has had an effect. */
    public void occurred(Condition condition) {
        occurrences.merge(condition, 1L, Long::sum);
    }

    /** Number of effects of each condition. */
    public Map<Condition, Long> occurrences() {
        return occurrences;
    }

    @Override
    public String toString() {
        return present.toString();
    }
}
