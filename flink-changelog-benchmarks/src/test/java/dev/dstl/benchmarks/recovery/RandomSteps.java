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

package dev.dstl.benchmarks.recovery;

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
 * Draws what happens to a run. The same random numbers give the same steps; at which record each of
 * them hits the job is up to the machine.
 */
final class RandomSteps {

    private static final int GREATEST_PARALLELISM = 4;

    /** Enough for a checkpoint without the old files, which {@code NO_CLAIM} promises. */
    private static final int CHECKPOINTS_UNTIL_INDEPENDENT = 3;

    private final Random random;
    private Backend backend;

    /**
     * @param backend that the first job has
     */
    RandomSteps(Random random, Backend backend) {
        this.random = random;
        this.backend = backend;
    }

    /** A long way, any kind at any place. */
    List<Step> any(int count) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            steps.add(pause());
            steps.add(disturbance());
        }
        return steps;
    }

    /** A short way: one kill of each process, one change of parallelism, in any order. */
    List<Step> oneOfEach() {
        List<Step> disturbances =
                Arrays.asList(killTaskManagers(1), killJobManager(), stopAndRestore());
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
        switch (random.nextInt(10)) {
            case 0:
            case 1:
                return killTaskManagers(1);
            case 2:
                return killTaskManagers(2);
            case 3:
                return killJobManager();
            case 4:
                return killJobManagerAndTaskManager();
            case 5:
                return new Step("a task fails", OrderRun::failTask);
            case 6:
                return savepoint();
            case 7:
                return cancelAndRestore();
            default:
                return stopAndRestore();
        }
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
        RestoreMode mode = mode();
        return new Step(
                String.format(
                        "stop with a savepoint, %s; on as %s, parallelism %d, %s",
                        format, mode, parallelism, next),
                run -> {
                    run.awaitCheckpoints(1);
                    String path = run.stopWithSavepoint(format);
                    run.setBackend(next);
                    run.setParallelism(parallelism);
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
        RestoreMode mode = mode();
        return new Step(
                String.format(
                        "cancel; on as %s from the last checkpoint, parallelism %d, %s",
                        mode, parallelism, next),
                run -> {
                    run.awaitCheckpoints(1);
                    RetainedCheckpoint checkpoint = run.cancel();
                    run.setBackend(next);
                    run.setParallelism(parallelism);
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
