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

import dev.dstl.log.DstlStorage;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.config.DstlOptions;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.mailbox.SyncMailboxExecutor;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProviderImpl;

/**
 * A TaskManager with a task that has made a segment durable, in a checkpoint or in none, and has
 * copied it to the local disk. Exits in an orderly way when its input ends.
 */
public final class TaskManagerProcess {

    private TaskManagerProcess() {}

    /**
     * Runs it.
     *
     * @param arguments base path, root of local state, job, and whether there is a checkpoint
     */
    public static void main(String[] arguments) throws Exception {
        Path base = Paths.get(arguments[0]);
        Path local = Paths.get(arguments[1]);
        JobID job = JobID.fromHexString(arguments[2]);
        DstlStorage storage = storage(base, local, job);
        ChangelogWriter writer =
                storage.createWriter("operator", LogFixture.KEY_GROUPS, new SyncMailboxExecutor());
        writer.append(1, "a".getBytes(StandardCharsets.UTF_8));
        if (Boolean.parseBoolean(arguments[3])) {
            writer.persist(writer.initialSequenceNumber(), 1).get(60, TimeUnit.SECONDS);
        } else {
            writer.nextSequenceNumber();
        }
        while (segments(base).isEmpty() || segments(local).isEmpty()) {
            Thread.sleep(10);
        }
        System.out.println(ChildProcess.READY);
        while (System.in.read() >= 0) {
            Thread.sleep(10);
        }
        System.exit(0);
    }

    /** A storage with a short max-age, which uploads everything and keeps local copies. */
    public static DstlStorage storage(Path base, Path local, JobID job) {
        File slot = local.resolve("aid_0123").toFile();
        return new DstlStorage(
                job,
                new Configuration()
                        .set(DstlOptions.BASE_PATH, base.toUri().toString())
                        .set(DstlOptions.INLINE_THRESHOLD, MemorySize.ZERO)
                        .set(DstlOptions.MAX_AGE, Duration.ofMillis(50)),
                new UnregisteredMetricsGroup(),
                LocalRecoveryConfig.backupAndRecoveryEnabled(
                        new LocalSnapshotDirectoryProviderImpl(slot, job, new JobVertexID(), 0)));
    }

    /** The segments below a directory. */
    public static List<Path> segments(Path directory) {
        return below(directory).stream()
                .filter(file -> file.toString().endsWith(".seg"))
                .collect(Collectors.toList());
    }

    /** Files below a directory, which may change meanwhile. */
    public static List<Path> below(Path directory) {
        if (!Files.exists(directory)) {
            return List.of();
        }
        while (true) {
            try (Stream<Path> files = Files.walk(directory)) {
                return files.filter(file -> !file.equals(directory)).collect(Collectors.toList());
            } catch (java.io.IOException | java.io.UncheckedIOException changedMeanwhile) {
                Thread.onSpinWait();
            }
        }
    }
}
