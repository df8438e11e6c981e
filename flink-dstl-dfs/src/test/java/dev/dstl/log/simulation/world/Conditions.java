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
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Which conditions a seed has, and how often each of them has mattered so far. */
public final class Conditions {

    /** Names that a seed may have at most, separated by commas; to find out which a failure needs. */
    private static final String ALLOWED = System.getProperty("simulation.conditions", "");

    private final Set<Condition> present = EnumSet.noneOf(Condition.class);
    private final Map<Condition, Long> occurrences = new EnumMap<>(Condition.class);

    /** Draws the conditions of a seed. */
    public Conditions(Dice dice) {
        this(dice, allowed());
    }

    private Conditions(Dice dice, Set<Condition> allowed) {
        for (Condition condition : Condition.values()) {
            boolean drawn = dice.percent(condition.percent());
            if (drawn && allowed.contains(condition)) {
                present.add(condition);
            }
        }
        if (!present.contains(Condition.LOCAL_COPIES)) {
            present.remove(Condition.DAMAGED_DISKS);
        }
    }

    private static Set<Condition> allowed() {
        return ALLOWED.isEmpty()
                ? EnumSet.allOf(Condition.class)
                : Arrays.stream(ALLOWED.split(","))
                        .filter(name -> !name.equals("none"))
                        .map(Condition::valueOf)
                        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Condition.class)));
    }

    /** Whether the seed has a condition. */
    public boolean has(Condition condition) {
        return present.contains(condition);
    }

    /** It has made a difference just now. */
    public void occurred(Condition condition) {
        occurrences.merge(condition, 1L, Long::sum);
    }

    /** How often each made a difference. */
    public Map<Condition, Long> occurrences() {
        return occurrences;
    }

    @Override
    public String toString() {
        return present.toString();
    }
}
