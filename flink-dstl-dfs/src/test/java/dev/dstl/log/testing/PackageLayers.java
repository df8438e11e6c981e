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
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * The packages of a module in layers, the upper ones first. A package may use those of lower layers
 * only; packages of the same layer are independent. Immutable.
 */
public final class PackageLayers {

    private final String root;
    private final List<List<String>> layers = new ArrayList<>();

    /**
     * Of a module.
     *
     * @param root of all its packages, such as {@code dev.dstl.log}
     * @param layers names of packages below the root, separated by blanks; {@code .} is the root
     */
    public PackageLayers(String root, String... layers) {
        this.root = root;
        for (String layer : layers) {
            this.layers.add(List.of(layer.split(" ")));
        }
    }

    /** Returns the violations, one per line. */
    public List<String> violations(JavaClasses classes) {
        TreeSet<String> found = new TreeSet<>();
        for (JavaClass from : classes) {
            for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
                JavaClass to = dependency.getTargetClass();
                if (isOfModule(from) && isOfModule(to) && !mayUse(from, to)) {
                    found.add(from.getName() + " uses " + to.getName());
                }
            }
        }
        return List.copyOf(found);
    }

    private boolean mayUse(JavaClass from, JavaClass to) {
        return from.getPackageName().equals(to.getPackageName()) || layer(from) < layer(to);
    }

    private boolean isOfModule(JavaClass type) {
        String name = type.getPackageName();
        return !type.isArray() && (name.equals(root) || name.startsWith(root + "."));
    }

    private int layer(JavaClass type) {
        String name = type.getPackageName();
        String below = name.equals(root) ? "." : name.substring(root.length() + 1);
        for (int i = 0; i < layers.size(); i++) {
            if (layers.get(i).contains(below)) {
                return i;
            }
        }
        throw new AssertionError(name + " is in no layer");
    }

    /** Returns the layers as shown on the architecture page. */
    public String text() {
        String module = root.substring(root.lastIndexOf('.') + 1);
        StringBuilder text = new StringBuilder("```text\n");
        for (List<String> layer : layers) {
            List<String> names = new ArrayList<>();
            for (String name : layer) {
                names.add(name.equals(".") ? module : module + "." + name);
            }
            text.append(String.join("  ", names)).append("\n");
        }
        return text.append("```\n").toString();
    }
}
