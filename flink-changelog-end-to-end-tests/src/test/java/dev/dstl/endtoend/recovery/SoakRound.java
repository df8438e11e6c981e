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

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateChangelogOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cluster with high availability, and random disturbances drawn from a seed. Whatever happens,
 * the result contains every record exactly once.
 */
final class SoakRound {

    private static final Logger LOG = LoggerFactory.getLogger(SoakRound.class);

    private final long seed;
    private final OrderVolume volume;
    private final Backend backend;
    private final Configuration settings;
    private final boolean kills;
    private final LogStore store;
    private final List<Step> steps;

    private SoakRound(
            long seed,
            OrderVolume volume,
            Backend backend,
            Configuration settings,
            boolean kills,
            LogStore store,
            List<Step> steps) {
        this.seed = seed;
        this.volume = volume;
        this.backend = backend;
        this.settings = settings;
        this.kills = kills;
        this.store = store;
        this.steps = steps;
    }

    /**
     * One kill of each process and one change of parallelism, on RocksDB to begin with.
     *
     * @param directory of the round alone
     */
    static SoakRound brief(long seed, Path directory) {
        Random random = new Random(seed);
        Backend backend = Backend.CHANGELOG_ON_ROCKSDB;
        LogStore store = new LogStore(directory.resolve("store"));
        return new SoakRound(
                seed,
                OrderVolume.SMALL,
                backend,
                new Configuration(),
                true,
                store,
                new RandomSteps(random, store, backend, true).oneOfEach());
    }

    /**
     * Any backend, any settings, and a number of disturbances of any kind. In one round of four no
     * process is killed: then every file has to be gone at the end.
     *
     * @param directory of the round alone
     */
    static SoakRound any(long seed, int disturbances, Path directory) {
        Random random = new Random(seed);
        Backend backend = Backend.values()[random.nextInt(Backend.values().length)];
        boolean kills = random.nextInt(4) > 0;
        LogStore store = new LogStore(directory.resolve("store"));
        return new SoakRound(
                seed,
                OrderVolume.LARGE,
                backend,
                settings(random),
                kills,
                store,
                new RandomSteps(random, store, backend, kills).any(disturbances));
    }

    /**
     * Goes all the way and verifies the result.
     *
     * @param directory of this round alone
     */
    void run(Path directory) throws Exception {
        List<Step> taken = new ArrayList<>();
        LOG.info("Seed {}: {} with {}", seed, backend, settings);
        try (EmbeddedZooKeeper zooKeeper = new EmbeddedZooKeeper(directory);
                RecoveryCluster cluster =
                        new RecoveryCluster(directory, store.files(), settings(zooKeeper))) {
            OrderRun run = cluster.newRun(backend, volume, settings);
            run.setVersion(RandomSteps.FIRST_VERSION);
            run.submit();
            for (Step step : steps) {
                LOG.info("Seed {}: {}", seed, step);
                taken.add(step);
                step.take(run);
            }
            run.awaitCheckpoints(1);
            long settledMillis = System.currentTimeMillis();
            LOG.info("Seed {}: the rest of the input", seed);
            run.finish();
            run.verify();
            verifyFiles(cluster, run, kills ? settledMillis : 0);
        } catch (Exception | AssertionError e) {
            throw new AssertionError(
                    String.format(
                            "Seed %d fails, %s with %s, after %s: %s",
                            seed, backend, settings, taken, e.getMessage()),
                    e);
        }
    }

    /**
     * A killed process leaves what it had not told anybody of. The tool has to find that, and what
     * Flink leaves, and nothing that a checkpoint names. What was written once the job had
     * recovered from the last kill must not be among it.
     *
     * <p>Flink's RocksDB leaves files of checkpoints that others overtake, without DSTL. Flink
     * leaves what its JobManager could not delete while the store was out of service, as it tries
     * once, and what only a checkpoint names that a cancellation aborted. A JobManager that is
     * killed while it deletes a checkpoint leaves its metadata, whose segments the next one
     * deletes.
     */
    private void verifyFiles(RecoveryCluster cluster, OrderRun run, long sinceMillis)
            throws Exception {
        List<Path> kept = new ArrayList<>(run.restoredCheckpoints().whole());
        kept.add(run.savepointDirectory());
        CheckpointFiles checkpoints =
                new CheckpointFiles(List.of(cluster.checkpoints(), run.savepointDirectory()));
        CheckpointFiles needed =
                kills
                        ? new CheckpointFiles(kept)
                        : checkpoints.without(run.restoredCheckpoints().claimed());
        Set<String> segments = new HashSet<>(cluster.segmentsLeftByTheJobManager());
        Set<Path> files = new HashSet<>();
        for (Map.Entry<JobID, Long> aborted : run.abortedByCancellation().entrySet()) {
            JobID job = aborted.getKey();
            segments.addAll(store.segmentsOf(job, aborted.getValue()));
            files.addAll(
                    CheckpointFiles.writtenBelow(cluster.checkpointsOf(job), aborted.getValue()));
        }
        for (JobID job : run.jobsWithoutDstl()) {
            files.addAll(CheckpointFiles.filesBelow(cluster.checkpointsOf(job)));
        }
        store.verifyNothingUnreferenced(checkpoints, segments, sinceMillis);
        LOG.info("Seed {}: {} orphans deleted", seed, store.deleteOrphans(checkpoints));
        store.verifyNothingButWhatIsNamed(checkpoints, needed);
        checkpoints.verifyNothingUnnamed(files, sinceMillis);
        store.verifyStateFilesAreListed(checkpoints);
    }

    private Configuration settings(EmbeddedZooKeeper zooKeeper) {
        Configuration cluster = new Configuration(settings);
        store.configure(cluster);
        zooKeeper.configure(cluster);
        cluster.set(RestOptions.RETRY_DELAY, Duration.ofMillis(200));
        cluster.set(RestOptions.RETRY_MAX_ATTEMPTS, 10);
        cluster.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 100_000);
        return cluster;
    }

    private static Configuration settings(Random random) {
        Configuration settings = new Configuration();
        settings.set(
                CheckpointingOptions.CHECKPOINTING_INTERVAL,
                Duration.ofMillis(100 + random.nextInt(500)));
        // Flink has several at the same time, or unaligned ones.
        if (random.nextInt(3) == 0) {
            settings.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
            // From the start, Flink 2.1 and later lose splits that a task has yet to add.
            settings.set(CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT, Duration.ofMillis(1));
        } else {
            settings.set(CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS, 1 + random.nextInt(3));
        }
        settings.set(
                StateChangelogOptions.PERIODIC_MATERIALIZATION_INTERVAL,
                Duration.ofMillis(200 + random.nextInt(5000)));
        boolean local = random.nextBoolean();
        settings.setString("execution.checkpointing.local-backup.enabled", Boolean.toString(local));
        settings.setString("execution.state-recovery.from-local", Boolean.toString(local));
        settings.setString(
                "state.changelog.dstl.dfs.compression.enabled",
                Boolean.toString(random.nextBoolean()));
        if (random.nextBoolean()) {
            settings.setString("state.changelog.dstl.inline-threshold", "0 b");
        }
        settings.setString(
                "state.changelog.dstl.compaction.min-runs", random.nextBoolean() ? "2" : "16");
        return settings;
    }
}
