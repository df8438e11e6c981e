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

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Number of classes per package of a module. */
public final class PackageSizes {

    private static final int SMALL = 3;

    private PackageSizes() {}

    /** Packages of fewer than three classes. Nested classes count as their outer class. */
    public static List<String> small(JavaClasses classes) {
        return classes.stream()
                .filter(type -> type.isTopLevelClass())
                .filter(type -> !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()))
                .entrySet()
                .stream()
                .filter(entry -> entry.getValue() < SMALL)
                .map(Map.Entry::getKey)
                .sorted()
                .collect(Collectors.toList());
    }
}
