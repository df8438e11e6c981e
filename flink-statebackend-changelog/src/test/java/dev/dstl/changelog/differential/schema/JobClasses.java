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

package dev.dstl.changelog.differential.schema;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.tools.ToolProvider;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * The classes of one generation of a job, compiled once per process. Every generation has an
 * Account with a subclass, an Order without, a Color, and an Opaque, which only Kryo can write;
 * their fields change. Thread-safe.
 */
public final class JobClasses {

    /** Number of generations. The last one is incompatible with the others. */
    public static final int GENERATIONS = 4;

    private static final Map<Integer, JobClasses> COMPILED = new ConcurrentHashMap<>();

    private static final List<String> FIELDS =
            List.of(
                    "public int number; public int old;",
                    "public int number; public String name;",
                    "public int number; public long cents; public String name;",
                    "public int number; public long cents;");

    private static final List<String> SUBCLASS_FIELDS =
            List.of(
                    "public int extra;",
                    "public int extra;",
                    "public int extra; public String remark;",
                    "public int extra; public String remark;");

    private static final List<String> COLORS =
            List.of("RED, GREEN", "RED, GREEN, BLUE", "BLACK, RED, GREEN, BLUE", "BLACK, RED");

    private final ClassLoader loader;

    private JobClasses(int generation) {
        try {
            Path directory = Files.createTempDirectory("generation-" + generation);
            List<String> files = new ArrayList<>(List.of("-d", directory.toString()));
            for (Map.Entry<String, String> source : sources(generation).entrySet()) {
                Path file = directory.resolve(source.getKey() + ".java");
                Files.writeString(file, source.getValue());
                files.add(file.toString());
            }
            int result =
                    ToolProvider.getSystemJavaCompiler()
                            .run(null, null, null, files.toArray(new String[0]));
            if (result != 0) {
                throw new IllegalStateException("The classes of the job do not compile");
            }
            loader =
                    new URLClassLoader(
                            new URL[] {directory.toUri().toURL()},
                            JobClasses.class.getClassLoader());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> sources(int generation) {
        String fill =
                "for (java.lang.reflect.Field f : a.getClass().getFields()) {"
                        + " try { if (f.getType() == int.class) f.setInt(a, n);"
                        + " else if (f.getType() == long.class) f.setLong(a, 100L * n);"
                        + " else f.set(a, f.getName() + n); }"
                        + " catch (IllegalAccessException e) { throw new IllegalStateException(e); }}";
        String text =
                "StringBuilder s = new StringBuilder(getClass().getName());"
                        + "java.util.TreeMap<String, Object> m = new java.util.TreeMap<>();"
                        + "for (java.lang.reflect.Field f : getClass().getFields()) {"
                        + " try { m.put(f.getName(), String.valueOf(f.get(this))); }"
                        + " catch (IllegalAccessException e) { throw new IllegalStateException(e); }}"
                        + "return s.append(m).toString();";
        String account =
                "public class %1$s {"
                        + FIELDS.get(generation)
                        + "public %1$s() {}"
                        + "public static Object make(int n) {"
                        + " %1$s a = %2$s;"
                        + fill
                        + " return a; }"
                        + "@Override public boolean equals(Object o) {"
                        + " return o instanceof %1$s && o.toString().equals(toString()); }"
                        + "@Override public int hashCode() { return number; }"
                        + "@Override public String toString() {"
                        + text
                        + "} }";
        return Map.of(
                "Account",
                String.format(account, "Account", "n % 3 == 0 ? new Special() : new Account()"),
                "Order",
                String.format(account, "Order", "new Order()"),
                "Special",
                "public class Special extends Account {"
                        + SUBCLASS_FIELDS.get(generation)
                        + "public Special() {} }",
                "Color",
                "public enum Color {"
                        + COLORS.get(generation)
                        + "; public static Object make(int n) {"
                        + " return values()[n % values().length]; } }",
                "Opaque",
                "public final class Opaque { private int number; private Object inner;"
                        + "private Opaque() {}"
                        + "public static Object make(int n) { Opaque o = new Opaque();"
                        + " o.number = n; if (n % 2 == 0) o.inner = new Inner(n); return o; }"
                        + "@Override public boolean equals(Object o) {"
                        + " return o instanceof Opaque && o.toString().equals(toString()); }"
                        + "@Override public int hashCode() { return number; }"
                        + "@Override public String toString() { return number + \"(\" + inner + \")\"; }"
                        + "}",
                "Inner",
                "public final class Inner { private int number; private Inner() {}"
                        + "Inner(int n) { number = n; }"
                        + "@Override public String toString() { return \"inner\" + number; } }");
    }

    /** Returns the classes of a generation, from 0 on. */
    public static JobClasses of(int generation) {
        return COMPILED.computeIfAbsent(generation, JobClasses::new);
    }

    /** Whether a later generation gives a constant of the enumeration another place. */
    public static boolean reordersConstants(int from, int to) {
        List<String> before = List.of(COLORS.get(from).split(", "));
        List<String> after = List.of(COLORS.get(to).split(", "));
        return before.stream().anyMatch(color -> before.indexOf(color) != after.indexOf(color));
    }

    /** Returns their class loader. */
    public ClassLoader loader() {
        return loader;
    }

    /** Returns a class. */
    @SuppressWarnings("unchecked") // Known at run time only.
    public Class<Object> type(String name) {
        try {
            return (Class<Object>) loader.loadClass(name);
        } catch (ClassNotFoundException e) {
            throw new FlinkRuntimeException(e);
        }
    }

    /** Returns the instance for a number, at least 0. */
    public Object make(String name, int number) {
        try {
            return type(name).getMethod("make", int.class).invoke(null, number);
        } catch (ReflectiveOperationException e) {
            throw new FlinkRuntimeException(e);
        }
    }
}
