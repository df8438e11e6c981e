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
import dev.dstl.changelog.differential.history.Step;
import dev.dstl.changelog.differential.job.JobShape;
import dev.dstl.changelog.differential.job.KeyedOperator;
import dev.dstl.changelog.differential.job.Operation;
import dev.dstl.changelog.differential.job.StateSpec;
import dev.dstl.changelog.differential.schema.Entity;
import dev.dstl.changelog.differential.schema.JobClasses;
import dev.dstl.changelog.differential.schema.TypeFamily;
import dev.dstl.changelog.differential.world.ChangelogJob;
import dev.dstl.changelog.differential.world.Conditions;
import dev.dstl.changelog.differential.world.Coverage;
import dev.dstl.changelog.differential.world.Deployment;
import dev.dstl.changelog.differential.world.PlainJob;
import dev.dstl.changelog.differential.world.Storage;
import dev.dstl.changelog.differential.world.Violation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.CompletedCheckpoint;
import org.apache.flink.util.IOUtils;

/**
 * Runs a history on a job with DSTL and on one with a plain backend, and compares them. Used by one
 * thread.
 */
final class Differential {

    private static final int ALL = -1;

    private final History history;
    private final Path directory;
    private final Trace trace;
    private final Conditions conditions;
    private final AtomicLong clock = new AtomicLong(1_000_000);
    private final PlainJob plain;
    private final ChangelogJob changelog;
    private final Refusals refusals;
    private final RestoredStates states;
    private final Set<Integer> spoiled = new HashSet<>();
    private Deployment deployment;

    /** Whether the plain job sees the state that has expired. */
    private boolean seesExpiredState;

    /** Whether DSTL's job may have states in several versions. */
    private boolean mixed;

    /**
     * Whether the same, also if all states are registered again: a serializer that reconfigures
     * itself depends on what its subtask has restored.
     */
    private boolean staysMixed;

    /** Whether a snapshot of DSTL's job may describe fewer classes than it contains. */
    private boolean describesTooFewClasses;

    /**
     * @param directory empty; for files of all kinds
     * @param trace gets what happened
     */
    Differential(History history, Path directory, Trace trace, Conditions conditions)
            throws Exception {
        this.history = history;
        this.directory = directory;
        this.trace = trace;
        this.conditions = conditions;
        deploy(history.start());
        this.plain =
                new PlainJob(history.shape(), directory, () -> seesExpiredState ? 0 : clock.get());
        this.states = new RestoredStates(history.shape(), conditions);
        this.changelog =
                new ChangelogJob(
                        history.shape(),
                        history.options(),
                        directory,
                        clock::get,
                        history.seed(),
                        conditions);
        this.refusals =
                new Refusals(
                        plain,
                        changelog,
                        () -> new PlainJob(history.shape(), directory, clock::get),
                        conditions);
    }

    /**
     * Snapshots from now on may lack classes that are in them: on the heap because they describe
     * them before they write them; anywhere because a task believes the first of several
     * descriptions.
     */
    private void deploy(Deployment next) {
        deployment = next;
        JobShape shape = history.shape();
        describesTooFewClasses |=
                shape.hasSubclasses()
                        && !shape.meetsClasses()
                        && (next.parallelism() > 1 || !next.storage().findsByBytes());
    }

    /** Runs the history to its end, and a little further. */
    void run() throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Entity.startAgain();
        try {
            plain.start(deployment, null);
            changelog.submit(deployment, null, RestoreMode.DEFAULT);
            for (Step step : history.steps()) {
                trace.begin(step.toString());
                trace.end(step(step));
            }
            trace.begin("at the end");
            trace.end(finish());
        } finally {
            IOUtils.closeAllQuietly(plain, changelog);
            Thread.currentThread().setContextClassLoader(before);
        }
        trace.begin("after the end");
        Leftovers.check(directory, changelog.usersFiles());
        trace.end("nothing is left");
    }

    private String finish() throws Exception {
        String happened = failOver(deployment, ALL);
        for (int queue = 0; queue < JobShape.QUEUES.size(); queue++) {
            for (int operator = 0; operator < history.shape().operators(); operator++) {
                fire(operator, queue, Long.MAX_VALUE);
            }
        }
        changelog.end(JobStatus.FINISHED);
        return happened;
    }

    private String step(Step step) throws Exception {
        switch (step.type()) {
            case OPERATE:
                return operate(step);
            case FIRE:
                return fire(
                        step.number(0, history.shape().operators()),
                        step.number(1, JobShape.QUEUES.size()),
                        step.number(2, 1000));
            case CLOCK:
                return "now " + clock.addAndGet(1000L * step.number(0, 200));
            case TRIGGER:
                return trigger(step);
            case ACKNOWLEDGE:
                return acknowledge(step);
            case ACKNOWLEDGE_ALL:
                return acknowledgeAll(step);
            case ABORT:
                return abort(step);
            case MATERIALIZE:
                return changelog.materialize(step.number(0), step.number(1), step.number(2))
                        ? "begun"
                        : "not begun";
            case END_MATERIALIZATION:
                return changelog.endMaterialization(step.number(0)) ? "ended" : "none";
            case FAIL:
                return fail(step);
            case RESCALE:
                return rescale(step);
            default:
                return resubmit(step);
        }
    }

    private String operate(Step step) {
        JobShape shape = history.shape();
        Operation operation = Operation.of(step.number(0));
        int operator = step.number(1, shape.operators());
        int state = step.number(2, shape.states().size());
        int key = step.number(3, JobShape.KEYS);
        int namespace = step.number(4, JobShape.NAMESPACES);
        int number = step.number(5, 1000);
        int keyGroup = KeyedOperator.keyGroup(shape, deployment.generation(), key);
        Outcome expected =
                Outcome.of(
                        () ->
                                plain.owner(operator, keyGroup)
                                        .apply(operation, state, key, namespace, number));
        Outcome found =
                Outcome.of(
                        () ->
                                changelog
                                        .owner(operator, keyGroup)
                                        .apply(operation, state, key, namespace, number));
        if (found.failed()) {
            changelog.markIncomplete(keyGroup);
            conditions.met(Coverage.FAILED_OPERATIONS);
        }
        if (!found.failed()) {
            states.operated(operation, operator, state, key, namespace);
        }
        conditions.metIf(found.is("merged"), Coverage.MERGED_NAMESPACES);
        conditions.metIf(found.is("repeated"), Coverage.REPEATED_TIMERS);
        if (operation == Operation.WRITE_BAD && shape.states().get(state).values().canFail()) {
            conditions.met(Coverage.BAD_VALUES);
            spoiled.add(state);
            if (!deployment.changelog()) {
                // The heap takes them, and whatever spills an entry meets them.
                IntStream.range(0, shape.states().size()).forEach(spoiled::add);
            }
        }
        if (!spoiled.contains(state) && !found.equals(expected)) {
            throw found.violation(
                    operation + " on " + shape.states().get(state) + " of key " + key, expected);
        }
        return operation + " " + found;
    }

    private String fire(int operator, int queue, long upTo) {
        List<String> expected = new ArrayList<>();
        plain.subtasks().forEach(of -> expected.addAll(of.get(operator).fire(queue, upTo)));
        List<String> found = new ArrayList<>();
        changelog.subtasks().forEach(of -> found.addAll(of.get(operator).fire(queue, upTo)));
        expected.sort(null);
        found.sort(null);
        if (!found.equals(expected)) {
            throw new Violation("Fired timers: expected " + expected + ", found " + found);
        }
        conditions.metIf(!found.isEmpty(), Coverage.FIRED_TIMERS);
        return found.toString();
    }

    private String trigger(Step step) throws Exception {
        long id;
        try {
            id = changelog.trigger(step.number(0) % 10 == 0);
        } catch (Exception e) {
            return refused(e);
        }
        conditions.metIf(changelog.isIncomplete(), Coverage.CHECKPOINTS_OF_INCOMPLETE_LOGS);
        states.taken(id, deployment, changelog.subtasks());
        try {
            plain.checkpoint(id, false);
        } catch (Exception e) {
            return failed(e);
        }
        return "checkpoint " + id;
    }

    /**
     * A changelog that may be incomplete may fail the task, and then the job restarts. Without a
     * changelog, Flink's backend writes bad values only now.
     */
    private String refused(Exception e) throws Exception {
        boolean holdsBadValues = !deployment.changelog() && !spoiled.isEmpty();
        if (!changelog.isIncomplete() && !holdsBadValues) {
            throw new Violation("A checkpoint is refused", e);
        }
        return "refused, " + failOver(deployment, ALL);
    }

    /**
     * A plain backend writes bad values only now; and after a user function that threw, the heap
     * holds entries that it cannot write.
     */
    private String failed(Exception e) throws Exception {
        if (spoiled.isEmpty() && !changelog.isIncomplete()) {
            throw e;
        }
        return "failed on the plain backend, " + failOver(deployment, ALL);
    }

    private String acknowledge(Step step) throws Exception {
        List<long[]> running = changelog.running();
        if (running.isEmpty()) {
            return "none";
        }
        long[] one = running.get(step.number(0, running.size()));
        return acknowledge(one, step.number(1) & step.number(0));
    }

    private String acknowledge(long[] one, int losses) throws Exception {
        Long completed = changelog.acknowledge(one[0], (int) one[1], losses);
        if (completed != null) {
            plain.forget(changelog.oldestId());
        }
        return one[0] + " by " + one[1] + (completed == null ? "" : ", completed");
    }

    private String acknowledgeAll(Step step) throws Exception {
        List<Long> pending = changelog.pending();
        if (pending.isEmpty()) {
            return "none";
        }
        long id = pending.get(step.number(0, pending.size()));
        StringBuilder happened = new StringBuilder();
        for (long[] one : changelog.running()) {
            if (one[0] == id) {
                happened.append(acknowledge(one, step.number(1) & step.number(0))).append(" ");
            }
        }
        return happened.toString();
    }

    private String abort(Step step) throws Exception {
        List<Long> pending = changelog.pending();
        if (pending.isEmpty()) {
            return "none";
        }
        long id = pending.get(step.number(0, pending.size()));
        changelog.abort(id, step.number(1), true);
        return "checkpoint " + id;
    }

    private String fail(Step step) throws Exception {
        conditions.met(Coverage.FAILOVERS);
        if (step.number(0) % 4 == 0) {
            changelog.stopTasks();
            changelog.replaceWorker(step.number(0) / 4);
        }
        return failOver(deployment, step.number(1));
    }

    private String rescale(Step step) throws Exception {
        int parallelism = parallelism(step.number(0));
        countScaling(parallelism);
        return failOver(deployment.withParallelism(parallelism), step.number(1));
    }

    /** Returns a parallelism, mostly a low one, as more subtasks take longer. */
    private static int parallelism(int number) {
        return new int[] {1, 1, 2, 2, 3, 3, 4, 5}[number % 8];
    }

    private void countScaling(int parallelism) {
        conditions.metIf(parallelism > deployment.parallelism(), Coverage.SCALED_OUT);
        conditions.metIf(parallelism < deployment.parallelism(), Coverage.SCALED_IN);
    }

    /** Restarts all tasks from the latest completed checkpoint. */
    private String failOver(Deployment next, int lookedAt) throws Exception {
        changelog.stopTasks();
        CompletedCheckpoint latest = changelog.latest();
        Long id = latest == null ? null : (Long) latest.getCheckpointID();
        deploy(next);
        spoiled.clear();
        plain.start(deployment, id);
        try {
            changelog.start(deployment);
        } catch (Exception e) {
            throw new Violation("Checkpoint " + id + " cannot be restored, " + deployment, e);
        }
        if (id == null) {
            states.startedAnew();
            Contents.compare(plain.subtasks(), changelog.subtasks(), lookedAt);
        } else {
            compareRestored(id, lookedAt);
        }
        return "restored " + id + ", " + deployment;
    }

    /** Compares the jobs, which were restored from a checkpoint. */
    private void compareRestored(long id, int lookedAt) throws Exception {
        int all = (1 << history.shape().states().size()) - 1;
        seesExpiredState = true;
        List<List<Map<String, String>>> held = contentsOfPlain(all);
        seesExpiredState = false;
        states.restored(id, deployment, held);
        Contents.compare(plain.subtasks(), changelog.subtasks(), lookedAt);
        if (deployment.changelog()) {
            List<List<Map<String, String>>> left = contentsOfPlain(lookedAt & all);
            for (int subtask = 0; subtask < held.size(); subtask++) {
                for (int operator = 0; operator < history.shape().operators(); operator++) {
                    Set<String> gone = new HashSet<>(held.get(subtask).get(operator).keySet());
                    gone.removeIf(name -> !isExpiring(name, lookedAt));
                    gone.removeAll(left.get(subtask).get(operator).keySet());
                    conditions.metIf(!gone.isEmpty(), Coverage.EXPIRED_STATE);
                }
            }
        }
    }

    private List<List<Map<String, String>>> contentsOfPlain(int lookedAt) throws Exception {
        List<List<Map<String, String>>> contents = new ArrayList<>();
        for (List<KeyedOperator> operators : plain.subtasks()) {
            List<Map<String, String>> ofSubtask = new ArrayList<>();
            for (KeyedOperator operator : operators) {
                ofSubtask.add(operator.contents(lookedAt));
            }
            contents.add(ofSubtask);
        }
        return contents;
    }

    private boolean isExpiring(String nameOfValue, int lookedAt) {
        List<StateSpec> specs = history.shape().states();
        return IntStream.range(0, specs.size())
                .filter(state -> ((lookedAt >> state) & 1) != 0 && specs.get(state).expires())
                .anyMatch(state -> nameOfValue.startsWith(specs.get(state).name() + "/"));
    }

    private String resubmit(Step step) throws Exception {
        boolean fromSavepoint = step.number(0) % 4 > 1;
        boolean canonical = step.number(0) % 4 == 2;
        Long id;
        String pointer;
        if (fromSavepoint) {
            CompletedCheckpoint savepoint;
            try {
                if (!hasChangelog(step) || (canonical && movesToRocksDb(step))) {
                    // Flink alone misreads states of several versions, and RocksDB converts no
                    // keys of maps, which the heap does as it registers them
                    changelog.registerAll();
                }
                savepoint = savepoint(canonical);
            } catch (Exception e) {
                return refused(e);
            }
            id = savepoint.getCheckpointID();
            states.taken(id, deployment, changelog.subtasks());
            pointer = savepoint.getExternalPointer();
            try {
                plain.checkpoint(id, canonical);
            } catch (Exception e) {
                return failed(e);
            }
        } else {
            CompletedCheckpoint latest = changelog.latest();
            if (latest == null) {
                return "nothing to restore";
            }
            id = latest.getCheckpointID();
            pointer = latest.getExternalPointer();
        }
        Deployment next = next(step, fromSavepoint, canonical);
        RestoreMode claimMode = claimMode(step.number(1));
        changelog.end(JobStatus.CANCELED);
        spoiled.clear();
        if (next.generation() != deployment.generation() && refusals.refuses(next, id)) {
            refusals.compare(deployment, next, mixed, id, pointer, claimMode);
            next = next.withGeneration(deployment.generation());
        }
        countChanges(next, fromSavepoint, canonical, claimMode);
        boolean getsMixed =
                !history.shape().registersAtOpen() && next.generation() != deployment.generation();
        mixed |= getsMixed;
        staysMixed |= getsMixed && next.changelog();
        deploy(next);
        plain.start(deployment, id);
        try {
            changelog.submit(deployment, pointer, claimMode);
        } catch (Exception e) {
            throw new Violation(
                    "Checkpoint " + id + " cannot be restored in another job, " + deployment, e);
        }
        compareRestored(id, step.number(6));
        return (fromSavepoint ? canonical ? "canonical savepoint " : "native savepoint " : "")
                + id
                + ", "
                + claimMode
                + ", "
                + deployment;
    }

    private CompletedCheckpoint savepoint(boolean canonical) throws Exception {
        return changelog.savepoint(
                CheckpointProperties.forSavepoint(
                        false,
                        canonical ? SavepointFormatType.CANONICAL : SavepointFormatType.NATIVE));
    }

    @SuppressWarnings("deprecation") // As long as Flink has the mode.
    private static RestoreMode claimMode(int number) {
        return new RestoreMode[] {RestoreMode.CLAIM, RestoreMode.NO_CLAIM, RestoreMode.LEGACY}
                [number % 3];
    }

    private Deployment next(Step step, boolean fromSavepoint, boolean canonical) {
        return new Deployment(
                generation(step.number(4)),
                parallelism(step.number(2)),
                canonical ? anyStorage(step) : deployment.storage(),
                hasChangelog(step)
                        || staysMixed
                        || (fromSavepoint ? !canonical && sharesFiles() : mayBeMixed()));
    }

    private Storage anyStorage(Step step) {
        Storage[] storages = storages();
        return storages[step.number(5, storages.length)];
    }

    private boolean movesToRocksDb(Step step) {
        return anyStorage(step).findsByBytes() && !deployment.storage().findsByBytes();
    }

    /**
     * Whether Flink alone could not go on from a native savepoint: it names files of the savepoint
     * by their place beside its metadata, which are not beside that of the next checkpoint.
     */
    private boolean sharesFiles() {
        return deployment.storage().findsByBytes() && deployment.storage() != Storage.ROCKSDB_FULL;
    }

    /** Whether Flink alone would misread our job's checkpoints: they may hold several versions. */
    private boolean mayBeMixed() {
        return deployment.changelog() && !history.shape().registersAtOpen();
    }

    /** Whether the job has a changelog after a new submission. */
    private static boolean hasChangelog(Step step) {
        return step.number(3) % 4 > 0;
    }

    /**
     * No earlier one if our job may still have what the plain one has lost on the way, and no other
     * one if Flink would misread the bases of our job's checkpoint.
     */
    private int generation(int number) {
        if (describesTooFewClasses) {
            return deployment.generation();
        }
        int generation = anyGeneration(number);
        return history.shape().registersAtOpen()
                ? generation
                : Math.max(generation, deployment.generation());
    }

    /** Returns a generation, mostly an adjacent one, since others are mostly rejected. */
    private int anyGeneration(int number) {
        int current = deployment.generation();
        switch (number % 8) {
            case 0:
            case 1:
                return current;
            case 2:
            case 3:
            case 4:
                return Math.min(current + 1, JobClasses.GENERATIONS - 1);
            case 5:
            case 6:
                return Math.max(current - 1, 0);
            default:
                return number / 8 % JobClasses.GENERATIONS;
        }
    }

    /** Those between which the job can move. */
    private Storage[] storages() {
        TypeFamily keys = history.shape().keys();
        return Stream.of(Storage.values())
                .filter(storage -> storage.supported(history.shape()).keys() == keys)
                .toArray(Storage[]::new);
    }

    private void countChanges(
            Deployment next, boolean fromSavepoint, boolean canonical, RestoreMode claimMode) {
        countScaling(next.parallelism());
        conditions.met(
                claimMode == RestoreMode.CLAIM
                        ? Coverage.CLAIMED
                        : claimMode == RestoreMode.NO_CLAIM
                                ? Coverage.NOT_CLAIMED
                                : Coverage.CLAIMED_AS_IN_OLD_FLINK);
        conditions.met(
                !fromSavepoint
                        ? Coverage.RETAINED_CHECKPOINTS_RESTORED
                        : canonical
                                ? Coverage.CANONICAL_SAVEPOINTS_RESTORED
                                : Coverage.NATIVE_SAVEPOINTS_RESTORED);
        conditions.metIf(
                next.changelog() && !deployment.changelog(), Coverage.CHANGELOG_SWITCHED_ON);
        conditions.metIf(
                !next.changelog() && deployment.changelog(), Coverage.CHANGELOG_SWITCHED_OFF);
        conditions.metIf(next.storage() != deployment.storage(), Coverage.DELEGATES_CHANGED);
        conditions.metIf(next.generation() > deployment.generation(), Coverage.UPGRADES);
        conditions.metIf(next.generation() < deployment.generation(), Coverage.DOWNGRADES);
    }
}
