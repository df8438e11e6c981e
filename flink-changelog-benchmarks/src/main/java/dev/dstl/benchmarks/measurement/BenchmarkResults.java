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

/** The results of one benchmark command, with what is needed to reproduce it. Written as JSON. */
public final class BenchmarkResults {

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** The command line. */
    public String command = "";

    /** Start time with time zone offset. */
    public String date = "";

    /** The machine of all runs. */
    public MachineDescription machine = new MachineDescription();

    /** Versions by name: Flink, DSTL, commit. */
    public Map<String, String> versions = new LinkedHashMap<>();

    /** Settings of all runs by name. */
    public Map<String, String> settings = new LinkedHashMap<>();

    /** Descriptions of the variants by name, in table order. */
    public Map<String, VariantDescription> variants = new LinkedHashMap<>();

    /** Descriptions of the workloads by name. */
    public Map<String, String> workloads = new LinkedHashMap<>();

    /** Runs in order. */
    public List<RunResult> runs = new ArrayList<>();

    /** Planned runs that were left out, with reasons. */
    public List<String> leftOut = new ArrayList<>();

    /** Reads results from a JSON file. */
    public static BenchmarkResults read(Path file) throws IOException {
        try {
            return JSON.readValue(Files.readAllBytes(file), BenchmarkResults.class);
        } catch (JsonProcessingException e) {
            throw new IOException(
                    file + " does not hold results of ./bench: " + e.getOriginalMessage(), e);
        }
    }

    /** Writes the results to a JSON file. */
    public void write(Path file) throws IOException {
        Files.write(file, JSON.writeValueAsBytes(this));
    }
}
