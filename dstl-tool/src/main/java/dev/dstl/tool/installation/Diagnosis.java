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

package dev.dstl.tool.installation;

import static org.apache.flink.configuration.CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT;
import static org.apache.flink.configuration.CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE;
import static org.apache.flink.configuration.CheckpointingOptions.CHECKPOINTS_DIRECTORY;
import static org.apache.flink.configuration.CheckpointingOptions.ENABLE_UNALIGNED;
import static org.apache.flink.configuration.CheckpointingOptions.FILE_MERGING_ENABLED;
import static org.apache.flink.configuration.StateChangelogOptions.ENABLE_STATE_CHANGE_LOG;
import static org.apache.flink.configuration.StateChangelogOptions.STATE_CHANGE_LOG_STORAGE;

import dev.dstl.changelog.config.LogLimits;
import dev.dstl.changelog.config.MaterializationSettings;
import dev.dstl.changelog.config.MemoryStorage;
import dev.dstl.changelog.config.TaskConfiguration;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.config.KnownKeys;
import dev.dstl.log.config.Release;
import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.tool.files.FileAccess;
import dev.dstl.tool.output.Report;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.execution.CheckpointingMode;

/** Finds problems of DSTL in a Flink installation, from its files. */
public final class Diagnosis implements Report {

    private static final Set<String> STORAGES = Set.of("memory", "dstl", "filesystem");

    /** The lines of Flink that DSTL has a jar for. */
    private static final List<String> LINES = List.of("1.20", "2.0", "2.1", "2.2", "2.3");

    /** Those whose sources take an unaligned checkpoint before the splits they were sent. */
    private static final Set<String> LINES_THAT_LOSE_SPLITS = Set.of("2.1", "2.2", "2.3");

    private final FlinkHome flink;
    private final Configuration configuration;
    private final List<InstalledJar> installed;
    private final Set<String> problems = new LinkedHashSet<>();
    private final List<String> notes = new ArrayList<>();

    private Diagnosis(FlinkHome flink, Configuration configuration) {
        this.flink = flink;
        this.configuration = configuration;
        this.installed =
                flink.lib().stream().filter(InstalledJar::isDstl).collect(Collectors.toList());
    }

    /**
     * Examines an installation. Starts no process and accesses no store.
     *
     * @param configuration of Flink's processes
     */
    public static Diagnosis of(FlinkHome flink, Configuration configuration) {
        Diagnosis diagnosis = new Diagnosis(flink, configuration);
        diagnosis.flink();
        diagnosis.places();
        diagnosis.jars();
        diagnosis.order();
        // Another line may lack the classes that know the keys.
        if (diagnosis.isOfKnownLine()) {
            diagnosis.complaint(diagnosis::keys);
            diagnosis.complaint(diagnosis::storage);
            diagnosis.complaint(diagnosis::fileSystems);
            diagnosis.complaint(diagnosis::alignment);
        }
        return diagnosis;
    }

    private Path lib() {
        return flink.directory().resolve("lib");
    }

    /** The line of this Flink, or of the tool if Flink does not tell. */
    private String line() {
        return flink.version().flatMap(Release::lineOf).orElse(Release.current().flinkLine());
    }

    private boolean isOfKnownLine() {
        return LINES.contains(line());
    }

    private void flink() {
        if (!isOfKnownLine()) {
            problems.add(
                    String.format(
                            "This is Flink %s, but DSTL has jars for Flink %s only.",
                            flink.version().orElse(line()), String.join(", ", LINES)));
        }
    }

    private void places() {
        for (InstalledJar jar : flink.plugins()) {
            if (jar.isDstl()) {
                problems.add(
                        String.format(
                                "%s is below plugins/, where Flink looks for no state backend; move"
                                        + " it to %s.",
                                jar.path(), lib()));
            }
        }
        for (InstalledJar jar : flink.jobs()) {
            if (jar.isDstl()) {
                problems.add(
                        String.format(
                                "%s contains DSTL, from where Flink does not load it; mark it"
                                        + " 'provided' in the job.",
                                jar.path()));
            }
        }
        for (InstalledJar jar : flink.lib()) {
            if (jar.isTool()) {
                problems.add(
                        String.format(
                                "%s is the command line tool; take it out of %s.",
                                jar.path().getFileName(), lib()));
            }
        }
    }

    private void jars() {
        if (installed.isEmpty() && isOfKnownLine()) {
            problems.add(
                    String.format(
                            "No jar of DSTL is in %s; copy dstl-flink-%s-<version>.jar there, on every"
                                    + " machine.",
                            lib(), line()));
        } else if (installed.size() > 1) {
            // Copies of one jar do no harm, as the first one wins.
            (areCopies() ? notes : problems)
                    .add(
                            String.format(
                                    "There are %d jars of DSTL in %s: %s; keep one.",
                                    installed.size(),
                                    lib(),
                                    installed.stream()
                                            .map(InstalledJar::text)
                                            .collect(Collectors.joining("; "))));
        } else if (installed.size() == 1 && !installed.get(0).isWhole()) {
            problems.add(
                    String.format(
                            "%s is a single module of DSTL; replace it with"
                                    + " dstl-flink-%s-<version>.jar.",
                            installed.get(0).path(), line()));
        }
        for (InstalledJar jar : installed) {
            jar.release().ifPresent(release -> line(jar, release));
        }
    }

    private boolean areCopies() {
        return installed.stream().allMatch(InstalledJar::isWhole)
                && installed.stream().map(jar -> jar.release().toString()).distinct().count() == 1;
    }

    private void line(InstalledJar jar, Release release) {
        Optional<String> version = flink.version();
        if (version.isPresent() && !release.fits(version.get())) {
            problems.add(
                    String.format(
                            "%s is built for Flink %s, but this is Flink %s; use the jar for that line,"
                                    + " or Flink %s.",
                            jar.path(), release.flinkLine(), version.get(), release.flinkLine()));
        }
    }

    private void order() {
        for (InstalledJar jar : flink.lib()) {
            if (jar.isDstl() && jar.isWhole()) {
                return;
            }
            if (jar.hasForeignShim() && !installed.isEmpty()) {
                problems.add(
                        String.format(
                                "%s has Flink's changelog state backend and precedes DSTL's jar on"
                                        + " the class path; remove it.",
                                jar.path()));
            }
        }
    }

    private void keys() {
        complaint(() -> KnownKeys.ofAllModules().check(configuration));
        complaint(() -> SpillConfig.of(configuration));
        TaskConfiguration values = new TaskConfiguration(configuration, configuration);
        complaint(() -> MaterializationSettings.of(values));
        complaint(() -> MaterializationSettings.uploadThreads(configuration));
        complaint(() -> LogLimits.of(values));
        if (configuration.get(FILE_MERGING_ENABLED)) {
            problems.add(
                    String.format(
                            "'%s' is true, which DSTL does not support; set it to false for jobs with"
                                    + " a changelog.",
                            FILE_MERGING_ENABLED.key()));
        }
        if (!configuration.get(ENABLE_STATE_CHANGE_LOG)) {
            notes.add(
                    String.format(
                            "'%s' is not true: only jobs that set it themselves have a changelog.",
                            ENABLE_STATE_CHANGE_LOG.key()));
        }
        if (configuration.getOptional(CHECKPOINTS_DIRECTORY).isEmpty()) {
            notes.add(
                    String.format(
                            "'%s' is not set: checkpoints of jobs that do not set it are in the memory"
                                    + " of the JobManager.",
                            CHECKPOINTS_DIRECTORY.key()));
        }
    }

    private void storage() {
        String storage = configuration.get(STATE_CHANGE_LOG_STORAGE).toLowerCase(Locale.ROOT);
        if (!STORAGES.contains(storage)) {
            problems.add(
                    String.format(
                            "'%s' is '%s', which names no storage; set it to 'dstl'.",
                            STATE_CHANGE_LOG_STORAGE.key(), storage));
        } else if (!MemoryStorage.isMeantBy(configuration)) {
            complaint(() -> DstlSettings.from(configuration));
        } else if (configuration.get(ENABLE_STATE_CHANGE_LOG)) {
            complaint(() -> MemoryStorage.refuseWithDurableCheckpoints(configuration));
        } else {
            notes.add(
                    String.format(
                            "'%s' is '%s': set it to 'dstl' before a job enables the changelog.",
                            STATE_CHANGE_LOG_STORAGE.key(), storage));
        }
    }

    private void fileSystems() {
        new FileSystemPlugins(flink.pluginDirectory(), flink.lib(), System.getenv())
                .missing(configuration)
                .ifPresent(problems::add);
    }

    private void alignment() {
        if (LINES_THAT_LOSE_SPLITS.contains(line())
                && configuration.get(CHECKPOINTING_CONSISTENCY_MODE)
                        == CheckpointingMode.EXACTLY_ONCE
                && configuration.get(ENABLE_UNALIGNED)
                && configuration.get(ALIGNED_CHECKPOINT_TIMEOUT).isZero()) {
            notes.add(
                    String.format(
                            "'%s' is true and '%s' is 0: Flink %s may then lose splits of a source"
                                    + " when a job recovers, with any state backend; set the latter"
                                    + " to '1 ms'.",
                            ENABLE_UNALIGNED.key(), ALIGNED_CHECKPOINT_TIMEOUT.key(), line()));
        }
    }

    private void complaint(Runnable check) {
        try {
            check.run();
        } catch (IllegalConfigurationException e) {
            problems.add(e.getMessage());
        } catch (IllegalArgumentException e) {
            // Flink names the key and the value.
            problems.add(FileAccess.firstLine(e) + ".");
        }
    }

    @Override
    public String text() {
        StringBuilder text = new StringBuilder();
        text.append(
                String.format(
                        "flink     %s, version %s%n",
                        flink.directory(), flink.version().orElse("unknown")));
        installed.forEach(jar -> text.append(String.format("dstl      %s%n", jar.text())));
        problems.forEach(problem -> text.append(String.format("problem   %s%n", problem)));
        notes.forEach(note -> text.append(String.format("note      %s%n", note)));
        text.append(
                String.format(
                        "result    %s%n",
                        problems.isEmpty()
                                ? "no problem was found"
                                : "problems: " + problems.size()));
        return text.toString();
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("flink", flink.directory().toString());
        json.put("flinkVersion", flink.version().orElse(null));
        json.put("jars", installed.stream().map(InstalledJar::json).collect(Collectors.toList()));
        json.put("problems", List.copyOf(problems));
        json.put("notes", List.copyOf(notes));
        return json;
    }

    @Override
    public Optional<String> problem() {
        return problems.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        String.format(
                                "Jobs that use DSTL would fail in %s: %s",
                                flink.directory(), problems.iterator().next()));
    }
}
