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

package dev.dstl.benchmarks.harness;

import java.util.List;
import java.util.Optional;
import org.apache.flink.runtime.util.EnvironmentInformation;

/**
 * The option {@code --flink} of {@code ./demo} and {@code ./bench}. Their scripts choose the class
 * path by it before anything here runs.
 */
public final class FlinkLine {

    /** The line of Flink that is used if none is named. */
    public static final String DEFAULT = "1.20";

    private static final List<String> LINES = List.of(DEFAULT, "2.3");

    private FlinkLine() {}

    /**
     * Returns what is wrong with a line, in one sentence.
     *
     * @param line as the command line names it
     * @param command of the script, such as {@code ./demo}
     */
    public static Optional<String> misuse(String line, String command) {
        return misuse(line, command, EnvironmentInformation.getVersion());
    }

    static Optional<String> misuse(String line, String command, String version) {
        if (!LINES.contains(line)) {
            return Optional.of("--flink must be 1.20 or 2.3, but is " + line + ".");
        }
        if (!version.startsWith(line + ".")) {
            return Optional.of(
                    String.format(
                            "--flink is %s, but the class path has Flink %s. Start it with %s.",
                            line, version, command));
        }
        return Optional.empty();
    }
}
