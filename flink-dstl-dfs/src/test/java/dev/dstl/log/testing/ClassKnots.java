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

package dev.dstl.log.testing;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Finds cycles: sets of classes that are mutually reachable. Nested classes count as their outer
 * class.
 */
public final class ClassKnots {

    private ClassKnots() {}

    /** Returns the cycles of more than {@code limit} classes. */
    public static Set<Set<String>> largerThan(int limit, JavaClasses classes) {
        Map<String, Set<String>> uses = uses(classes);
        Map<String, Set<String>> reached = new TreeMap<>();
        uses.keySet().forEach(name -> reached.put(name, reach(name, uses)));
        return uses.keySet().stream()
                .map(name -> knotOf(name, reached))
                .filter(knot -> knot.size() > limit)
                .collect(Collectors.toSet());
    }

    private static Map<String, Set<String>> uses(JavaClasses classes) {
        Map<String, Set<String>> uses = new TreeMap<>();
        for (JavaClass type : classes) {
            uses.computeIfAbsent(topLevel(type), name -> new TreeSet<>());
        }
        for (JavaClass type : classes) {
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .map(JavaClass::getBaseComponentType)
                    .map(ClassKnots::topLevel)
                    .filter(uses::containsKey)
                    .forEach(uses.get(topLevel(type))::add);
        }
        return uses;
    }

    private static Set<String> reach(String from, Map<String, Set<String>> uses) {
        Set<String> reached = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(uses.get(from));
        while (!open.isEmpty()) {
            String next = open.poll();
            if (reached.add(next)) {
                open.addAll(uses.get(next));
            }
        }
        return reached;
    }

    private static Set<String> knotOf(String name, Map<String, Set<String>> reached) {
        return reached.get(name).stream()
                .filter(other -> reached.get(other).contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String topLevel(JavaClass type) {
        return type.getName().replaceFirst("\\$.*", "");
    }
}
