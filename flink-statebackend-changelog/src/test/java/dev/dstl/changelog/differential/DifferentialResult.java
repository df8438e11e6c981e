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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.history.History;
import dev.dstl.changelog.differential.world.Conditions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.FileUtils;

/** The result of a history. Immutable. */
final class DifferentialResult {

    private final History history;
    private final Trace trace;
    private final Conditions conditions;
    @Nullable private final Throwable failure;

    DifferentialResult(
            History history, Trace trace, Conditions conditions, @Nullable Throwable failure) {
        this.history = history;
        this.trace = trace;
        this.conditions = conditions;
        this.failure = failure;
    }

    /** Runs a history in a new directory. */
    static DifferentialResult of(History history) throws Exception {
        Path directory =
                Files.createTempDirectory(directory(), "differential-" + history.seed() + "-");
        Trace trace = new Trace();
        Conditions conditions = new Conditions();
        Throwable failure = null;
        try {
            new Differential(history, directory, trace, conditions).run();
        } catch (Throwable t) {
            failure = t;
        }
        FileUtils.deleteDirectoryQuietly(directory.toFile());
        return new DifferentialResult(history, trace, conditions, failure);
    }

    /** Returns a directory in memory if possible: power failures are not tested. */
    private static Path directory() {
        Path memory = Paths.get("/dev/shm");
        return Files.isDirectory(memory) && Files.isWritable(memory)
                ? memory
                : Paths.get(System.getProperty("java.io.tmpdir"));
    }

    History history() {
        return history;
    }

    boolean isViolated() {
        return failure != null;
    }

    Map<Enum<?>, Long> coverage() {
        return conditions.counts();
    }

    /** The failure without parts that differ between runs, such as file names. */
    String kind() {
        String message = String.valueOf(failure.getMessage()).split("[:\\d]", 2)[0];
        return failure.getClass().getSimpleName() + " " + message;
    }

    /** Number of steps done before the failure. */
    int stepsDone() {
        return trace.stepsDone();
    }

    /** Returns all details. */
    String story() {
        return history
                + "\nWhat happened:\n"
                + trace
                + "\n"
                + ExceptionUtils.stringifyException(failure);
    }

    /** The failure, and the command that reproduces it. */
    @Override
    public String toString() {
        return String.format(
                "seed %d after %d steps: %s%n    %s",
                history.seed(), stepsDone(), causes(), replayCommand(history.seed()));
    }

    private String causes() {
        StringBuilder causes = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            causes.append(causes.length() == 0 ? "" : "\n        because of ").append(cause);
        }
        return causes.toString();
    }

    /** Shell command, to be run in the root directory of the project. */
    static String replayCommand(long seed) {
        return "./mvnw -pl flink-statebackend-changelog -am test -Dtest=DifferentialTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false"
                + " -Ddifferential.count=1 -Ddifferential.first="
                + seed;
    }
}
