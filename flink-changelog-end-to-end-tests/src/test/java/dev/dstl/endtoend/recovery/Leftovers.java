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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;

/** What this process holds between jobs, by kind. */
final class Leftovers {

    /** Directory of changelogs, which has no file between jobs. */
    static final String CHANGELOGS = "log";

    /** Directory of checkpoints, which has no file between jobs. */
    static final String CHECKPOINTS = "checkpoints";

    private static final Set<String> EMPTY = Set.of(CHANGELOGS, CHECKPOINTS);

    /** Objects that are created with their first use, and kept. */
    private static final int OBJECTS_OF_FIRST_USE = 3;

    /** Files of Flink's and of the virtual machine's own. */
    private static final int OTHER_OPEN_FILES = 30;

    private static final Pattern OURS =
            Pattern.compile("(dev\\.dstl\\.(?!endtoend|benchmarks)|org\\.rocksdb\\.).*");

    private final Map<String, Long> threads;
    private final Map<String, Long> objects;
    private final Map<String, Set<String>> files;
    private final long mappings;
    private final long openFiles;

    private Leftovers(Path directory) throws IOException, JMException {
        this.threads = threads();
        this.objects = ClassHistogram.of(OURS);
        this.files = files(directory);
        this.mappings = mappings();
        this.openFiles = openFiles();
    }

    /**
     * Counts what there is now; collects garbage.
     *
     * @param directory of all files of the jobs
     */
    static Leftovers ofThisProcess(Path directory) throws IOException, JMException {
        return new Leftovers(directory);
    }

    /** Waits until there is no more of anything than before. */
    static void verifyNoMoreThan(Leftovers before, Path directory, Duration patience) {
        assertThat(before.objects).as("objects of jobs that have ended").isNotEmpty();
        await().atMost(patience)
                .pollInterval(Duration.ofSeconds(1))
                .pollInSameThread()
                .untilAsserted(
                        () ->
                                assertThat(ofThisProcess(directory).moreThan(before))
                                        .as("left over by jobs")
                                        .isEmpty());
    }

    private Map<String, String> moreThan(Leftovers before) {
        Map<String, String> more = new TreeMap<>();
        addMore(more, "threads ", before.threads, threads, 0);
        addMore(more, "objects ", before.objects, objects, OBJECTS_OF_FIRST_USE);
        addMore(
                more,
                "",
                Map.of("mappings", before.mappings, "open files", before.openFiles),
                Map.of("mappings", mappings, "open files", openFiles - OTHER_OPEN_FILES),
                0);
        files.forEach(
                (name, now) -> {
                    Set<String> former = before.files.getOrDefault(name, Set.of());
                    int allowed = EMPTY.contains(name) ? 0 : former.size();
                    if (now.size() > allowed) {
                        Set<String> added = new TreeSet<>(now);
                        added.removeAll(former);
                        more.put("files in " + name, allowed + " before, now also " + added);
                    }
                });
        return more;
    }

    private static void addMore(
            Map<String, String> more,
            String kind,
            Map<String, Long> before,
            Map<String, Long> now,
            int allowed) {
        now.forEach(
                (name, count) -> {
                    long former = before.getOrDefault(name, 0L);
                    if (count > former + allowed) {
                        more.put(kind + name, former + " before, " + count + " now");
                    }
                });
    }

    /** Threads of DSTL and of RocksDB in Java, by their names without numbers. */
    private static Map<String, Long> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.toLowerCase(Locale.ROOT).matches(".*(dstl|spill|rocksdb).*"))
                .collect(
                        Collectors.groupingBy(
                                name -> name.replaceAll("\\d+", "N"), Collectors.counting()));
    }

    /** Files by the first directory that they are in. */
    private static Map<String, Set<String>> files(Path directory) throws IOException {
        return CheckpointFiles.filesBelow(directory).stream()
                .map(directory::relativize)
                .collect(
                        Collectors.groupingBy(
                                file -> file.getName(0).toString(),
                                Collectors.mapping(Path::toString, Collectors.toSet())));
    }

    private static long mappings() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("mapped"))
                .mapToLong(BufferPoolMXBean::getCount)
                .sum();
    }

    /** Returns 0 where the operating system does not tell. */
    private static long openFiles() throws IOException {
        Path open = Path.of("/proc/self/fd");
        if (!Files.isDirectory(open)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(open)) {
            return all.count();
        }
    }
}
