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

package dev.dstl.flink;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The classes of the jar are compiled against one Flink and run with others, where no compiler sees
 * what is missing. Here each of them is compared with the Flink of the class path.
 */
class LinkageITCase {

    private static final List<String> OTHERS =
            List.of("org.apache.flink.", "org.rocksdb.", "dev.dstl.");

    private static JavaClasses classes;

    @BeforeAll
    static void read() throws IOException {
        try (JarFile jar = new JarFile(DropInJarITCase.file().toFile())) {
            classes = new ClassFileImporter().importJar(jar);
        }
        assertThat(classes).hasSizeGreaterThan(300);
    }

    @Test
    void everyClassThatIsUsedExists() {
        Set<String> missing = new TreeSet<>();
        for (JavaClass type : classes) {
            for (Dependency use : type.getDirectDependenciesFromSelf()) {
                JavaClass used = use.getTargetClass().getBaseComponentType();
                if (isOfOthers(used) && !exists(used.getName())) {
                    missing.add(used.getName() + ", used by " + type.getName());
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void everyMethodAndFieldThatIsUsedExists_withTheSameType() {
        Set<String> missing = new TreeSet<>();
        for (JavaClass type : classes) {
            for (JavaAccess<?> access : type.getAccessesFromSelf()) {
                AccessTarget target = access.getTarget();
                if (isOfOthers(target.getOwner()) && !resolves(target)) {
                    missing.add(target.getFullName() + ", used by " + type.getName());
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void everyMethodThatFlinkAsksForIsImplemented() throws ClassNotFoundException {
        Set<String> missing = new TreeSet<>();
        for (JavaClass type : classes) {
            Class<?> loaded =
                    Class.forName(type.getName(), false, LinkageITCase.class.getClassLoader());
            if (!Modifier.isAbstract(loaded.getModifiers())) {
                for (Method method : loaded.getMethods()) {
                    if (Modifier.isAbstract(method.getModifiers())) {
                        missing.add(method + ", in " + type.getName());
                    }
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    private static boolean isOfOthers(JavaClass type) {
        return OTHERS.stream().anyMatch(type.getName()::startsWith);
    }

    private static boolean exists(String name) {
        return LinkageITCase.class.getClassLoader().getResource(name.replace('.', '/') + ".class")
                != null;
    }

    private static boolean resolves(AccessTarget target) {
        return target.resolveMember()
                .map(member -> typeOf(member).equals(typeOf(target)))
                .orElse(false);
    }

    private static String typeOf(AccessTarget target) {
        return target instanceof AccessTarget.FieldAccessTarget
                ? ((AccessTarget.FieldAccessTarget) target).getRawType().getName()
                : ((AccessTarget.CodeUnitAccessTarget) target).getRawReturnType().getName();
    }

    private static String typeOf(JavaMember member) {
        return member instanceof JavaField
                ? ((JavaField) member).getRawType().getName()
                : ((JavaCodeUnit) member).getRawReturnType().getName();
    }
}
