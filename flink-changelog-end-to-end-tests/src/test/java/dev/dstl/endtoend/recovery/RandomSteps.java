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

import dev.dstl.benchmarks.simulated.store.Outage;
import dev.dstl.endtoend.recovery.upgrade.JobVersion;
import java.net.URI;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.util.FileUtils;

/**
 * Draws the steps of a run. The same seed gives the same steps; the record at which each step
 * happens depends on the machine.
 */
final class RandomSteps {

    /** Version of the first job. */
    static final JobVersion FIRST_VERSION = JobVersion.FIRST;

    private static final int GREATEST_PARALLELISM = 4;

    /** Checkpoints after which none may need the old files with {@code NO_CLAIM}. */
    private static final int CHECKPOINTS_UNTIL_INDEPENDENT = 3;

    private static final int LONGEST_OUTAGE_MILLIS = 6000;

    private final Random random;
    private final LogStore store;
    private final boolean kills;
    private Backend backend;
    private JobVersion version = FIRST_VERSION;

    /**
     * @param backend that the first job has
     * @param kills whether processes are killed
     */
    RandomSteps(Random random, LogStore store, Backend backend, boolean kills) {
        this.random = random;
        this.store = store;
        this.backend = backend;
        this.kills = kills;
    }

    /** Returns any steps in any order. */
    List<Step> any(int count) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            steps.add(pause());
            steps.add(disturbance());
        }
        return steps;
    }

    /** Returns one kill of each process and one change of parallelism, in any order. */
    List<Step> oneOfEach() {
        List<Step> disturbances =
                Arrays.asList(
                        outageAround(killTaskManagers(1)), killJobManager(), stopAndRestore());
        Collections.shuffle(disturbances, random);
        List<Step> steps = new ArrayList<>();
        for (Step disturbance : disturbances) {
            steps.add(awaitCheckpoints(1 + random.nextInt(2)));
            steps.add(disturbance);
        }
        steps.add(awaitCheckpoints(1));
        return steps;
    }

    private Step disturbance() {
        return kills && random.nextInt(3) > 0 ? kill() : withoutKill();
    }

    private Step kill() {
        switch (random.nextInt(9)) {
            case 0:
                return killTaskManagers(2);
            case 1:
                return killJobManager();
            case 2:
                return killJobManagerAndTaskManager();
            case 3:
                return outageAround(killTaskManagers(1));
            case 4:
                return outageAround(killTaskManagers(2));
            case 5:
                return outageAround(killJobManagerAndTaskManager());
            case 6:
            case 7:
                return killInTurns();
            default:
                return killTaskManagers(1);
        }
    }

    private Step withoutKill() {
        switch (random.nextInt(8)) {
            case 0:
                return new Step("a task fails", OrderRun::failTask);
            case 1:
                return failInOutage();
            case 2:
                return outageAround(new Step("nothing else", run -> {}));
            case 3:
                return savepoint();
            case 4:
                return cancelAndRestore();
            default:
                return stopAndRestore();
        }
    }

    /** The job may just be restoring from a store that hangs, so that its tasks run afterwards. */
    private Step failInOutage() {
        Step outage = outageAround(new Step("a task fails", OrderRun::letTaskFail));
        return new Step(
                outage.toString(),
                run -> {
                    outage.take(run);
                    run.awaitTaskFailure();
                });
    }

    /** Wraps a step in an outage, so that processes and tasks start without the store. */
    private Step outageAround(Step step) {
        Outage outage = Outage.values()[random.nextInt(Outage.values().length)];
        int millis = random.nextInt(LONGEST_OUTAGE_MILLIS);
        return new Step(
                String.format("the store is %s, and %s; for %d ms", outage, step, millis),
                run -> {
                    store.begin(outage);
                    try {
                        step.take(run);
                        // The moment is what is drawn here; nothing is waited for.
                        Thread.sleep(millis);
                    } finally {
                        store.endOutage();
                    }
                });
    }

    /** Returns the next version of a state class, or the same one. */
    private JobVersion nextVersion() {
        version = random.nextBoolean() ? version.next() : version;
        return version;
    }

    private Step pause() {
        if (random.nextInt(3) == 0) {
            // The moment is what is drawn here; nothing is waited for.
            int millis = random.nextInt(2500);
            return new Step(millis + " ms later", run -> Thread.sleep(millis));
        }
        return awaitCheckpoints(1 + random.nextInt(5));
    }

    private static Step awaitCheckpoints(int count) {
        return new Step(count + " checkpoints later", run -> run.awaitCheckpoints(count));
    }

    private static Step killTaskManagers(int count) {
        return new Step(
                "SIGKILL to " + count + " TaskManagers", run -> run.killTaskManagers(count));
    }

    /** Most of these kills meet a job that has not recovered from the one before. */
    private Step killInTurns() {
        int kills = 4 + random.nextInt(9);
        int millis = random.nextInt(3000);
        return new Step(
                String.format("SIGKILL to %d TaskManagers, one every %d ms", kills, millis),
                run -> {
                    for (int i = 0; i < kills; i++) {
                        run.killTaskManagers(1);
                        // The moment is what is drawn here; nothing is waited for.
                        Thread.sleep(millis);
                    }
                });
    }

    private static Step killJobManager() {
        return new Step("SIGKILL to the JobManager", OrderRun::killJobManager);
    }

    private static Step killJobManagerAndTaskManager() {
        return new Step(
                "SIGKILL to the JobManager and a TaskManager",
                run -> {
                    run.killJobManager();
                    run.killTaskManagers(1);
                });
    }

    private Step savepoint() {
        SavepointFormatType format = format();
        return new Step(
                "a savepoint, " + format,
                run -> {
                    run.awaitCheckpoints(1);
                    run.savepoint(format);
                });
    }

    private Step stopAndRestore() {
        SavepointFormatType format = format();
        Backend next = nextBackend(format == SavepointFormatType.CANONICAL);
        int parallelism = parallelism();
        JobVersion upgrade = nextVersion();
        RestoreMode mode = mode();
        return new Step(
                String.format(
                        "stop with a savepoint, %s; on as %s, parallelism %d, %s, %s version",
                        format, mode, parallelism, next, upgrade),
                run -> {
                    run.awaitCheckpoints(1);
                    String path = run.stopWithSavepoint(format);
                    run.setBackend(next);
                    run.setParallelism(parallelism);
                    run.setVersion(upgrade);
                    run.submitFrom(path, mode);
                    if (mode == RestoreMode.NO_CLAIM) {
                        run.awaitCheckpoints(CHECKPOINTS_UNTIL_INDEPENDENT);
                        FileUtils.deleteDirectory(Paths.get(URI.create(path)).toFile());
                    }
                });
    }

    private Step cancelAndRestore() {
        Backend next = nextBackend(false);
        int parallelism = parallelism();
        JobVersion upgrade = nextVersion();
        RestoreMode mode = mode();
        return new Step(
                String.format(
                        "cancel; on as %s from the last checkpoint, parallelism %d, %s, %s version",
                        mode, parallelism, next, upgrade),
                run -> {
                    run.awaitCheckpoints(1);
                    RetainedCheckpoint checkpoint = run.cancel();
                    run.setBackend(next);
                    run.setParallelism(parallelism);
                    run.setVersion(upgrade);
                    run.submitFrom(checkpoint, mode);
                    if (mode == RestoreMode.NO_CLAIM) {
                        run.awaitCheckpoints(CHECKPOINTS_UNTIL_INDEPENDENT);
                        checkpoint.deleteWhatThereIsOfItsJob();
                    }
                });
    }

    private Backend nextBackend(boolean canonical) {
        Backend before = backend;
        List<Backend> possible =
                Arrays.stream(Backend.values())
                        .filter(next -> canonical || next.readsFormatOf(before))
                        .collect(Collectors.toList());
        backend = possible.get(random.nextInt(possible.size()));
        return backend;
    }

    private int parallelism() {
        return 1 + random.nextInt(GREATEST_PARALLELISM);
    }

    private SavepointFormatType format() {
        return random.nextBoolean() ? SavepointFormatType.CANONICAL : SavepointFormatType.NATIVE;
    }

    @SuppressWarnings("deprecation") // Flink advises against LEGACY, and supports it.
    private RestoreMode mode() {
        RestoreMode[] modes = {RestoreMode.CLAIM, RestoreMode.NO_CLAIM, RestoreMode.LEGACY};
        return modes[random.nextInt(modes.length)];
    }
}
