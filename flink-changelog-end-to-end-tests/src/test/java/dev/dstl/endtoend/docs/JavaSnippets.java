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

package dev.dstl.endtoend.docs;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The Java code of a page. A block is either a source file with one type in it, or statements, with
 * imports before them, to which the environment of a job is known as {@code env}.
 */
final class JavaSnippets {

    private static final Pattern IMPORT = Pattern.compile("(?m)^import [^;]+;\\R?");

    private static final Pattern TYPE =
            Pattern.compile("(?m)^(?:public |abstract |final )*(?:class|enum|interface) (\\w+)");

    private final Map<String, String> sources = new TreeMap<>();

    private JavaSnippets() {}

    static JavaSnippets of(String page) {
        JavaSnippets snippets = new JavaSnippets();
        for (String block : Documentation.blocks(page, "java")) {
            Matcher type = TYPE.matcher(block);
            boolean isType = type.find();
            String name = isType ? type.group(1) : "Statements" + snippets.sources.size();
            String source = isType ? block : method(name, block);
            if (snippets.sources.put(name, source) != null) {
                throw new IllegalArgumentException("There are two types " + name);
            }
        }
        return snippets;
    }

    private static String method(String className, String statements) {
        String imports =
                IMPORT.matcher(statements).results().map(MatchResult::group).collect(joining());
        return imports
                + "class "
                + className
                + " { void run(org.apache.flink.streaming.api.environment"
                + ".StreamExecutionEnvironment env) throws Exception {\n"
                + IMPORT.matcher(statements).replaceAll("")
                + "} }\n";
    }

    /** Names of the types, and a name for each block of statements. */
    List<String> names() {
        return List.copyOf(sources.keySet());
    }

    /**
     * Compiles with the class path of this process, for the oldest Java that jobs run on.
     *
     * @param directory for sources and classes; created if absent
     * @return the errors, each with file and line
     */
    List<String> compile(Path directory) throws IOException {
        Files.createDirectories(directory);
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, String> source : sources.entrySet()) {
            files.add(
                    Files.writeString(
                            directory.resolve(source.getKey() + ".java"), source.getValue()));
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        try (StandardJavaFileManager manager =
                compiler.getStandardFileManager(diagnostics, Locale.ROOT, null)) {
            compiler.getTask(
                            null,
                            manager,
                            diagnostics,
                            List.of(
                                    "--release",
                                    Poms.property("maven.compiler.release"),
                                    "-proc:none",
                                    "-classpath",
                                    System.getProperty("java.class.path"),
                                    "-d",
                                    directory.toString()),
                            null,
                            manager.getJavaFileObjectsFromPaths(files))
                    .call();
        }
        return diagnostics.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(Object::toString)
                .collect(toList());
    }
}
