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

package dev.dstl.benchmarks.measurement;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.SerializationFeature;

/** All runs of one command, and what a reader needs to know to repeat it. Written as JSON. */
public final class BenchmarkResults {

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** As it was typed. */
    public String command = "";

    /** When it began, with the offset of the time zone. */
    public String date = "";

    /** The machine all runs were made on. */
    public MachineDescription machine = new MachineDescription();

    /** Name to version: Flink, this project, the commit. */
    public Map<String, String> versions = new LinkedHashMap<>();

    /** What is the same for all runs, name to value. */
    public Map<String, String> settings = new LinkedHashMap<>();

    /** Labels of the variants by their names, in the order in which tables show them. */
    public Map<String, VariantDescription> variants = new LinkedHashMap<>();

    /** What the workloads do, by their names. */
    public Map<String, String> workloads = new LinkedHashMap<>();

    /** In the order in which they ran. */
    public List<RunResult> runs = new ArrayList<>();

    /** What was planned and not run, with the reason. */
    public List<String> leftOut = new ArrayList<>();

    /** Reads what {@link #write} wrote. */
    public static BenchmarkResults read(Path file) throws IOException {
        try {
            return JSON.readValue(Files.readAllBytes(file), BenchmarkResults.class);
        } catch (JsonProcessingException e) {
            throw new IOException(
                    file + " does not hold results of ./bench: " + e.getOriginalMessage(), e);
        }
    }

    /** Writes everything as JSON. */
    public void write(Path file) throws IOException {
        Files.write(file, JSON.writeValueAsBytes(this));
    }
}
