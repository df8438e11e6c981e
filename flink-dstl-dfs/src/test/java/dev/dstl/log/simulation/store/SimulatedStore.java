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

package dev.dstl.log.simulation.store;

import dev.dstl.log.simulation.schedule.Dice;
import dev.dstl.log.simulation.schedule.Fiber;
import dev.dstl.log.simulation.schedule.Lane;
import dev.dstl.log.simulation.schedule.Schedule;
import dev.dstl.log.simulation.world.Condition;
import dev.dstl.log.simulation.world.Conditions;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/**
 * Files in memory, with the {@link Weather} deciding how requests end. What is in it and who may
 * see it are two things: the invariants look at what is in it.
 *
 * <p>Handles reach it as {@code simulated://store/} through Flink's file systems. The name is
 * always the same, as it decides over the order in hash tables; which store is meant, the thread
 * decides.
 */
public final class SimulatedStore {

    private static final long LINK_BYTES_PER_SECOND = 20_000;

    /** The store of a simulation's thread and of the threads that block for it. */
    private static final ThreadLocal<AtomicReference<SimulatedStore>> CURRENT =
            new InheritableThreadLocal<>();

    private final Dice dice;
    private final Schedule schedule;
    private final Lane lane;
    private final Weather weather;
    private final StoreWatcher watcher;
    private final Conditions conditions;
    @Nullable private final SharedLink link;
    private final Map<String, byte[]> files = new TreeMap<>();
    private final Map<String, Long> visibleFromMillis = new TreeMap<>();
    private final Set<String> beingWritten = new TreeSet<>();
    private final Set<String> deleted = new TreeSet<>();
    private final Set<String> storedAfterDelete = new TreeSet<>();
    private final Set<String> storedSoonAfterFailure = new TreeSet<>();
    private final Map<String, Integer> uninterruptibleWrites = new TreeMap<>();
    private long losses;
    private boolean clearSight;

    /**
     * From now on the calling thread simulates, and threads that it starts block for it; whatever
     * thread started this one.
     */
    public static void simulateHere() {
        CURRENT.set(new AtomicReference<>());
    }

    /** Creates a store, which handles on the calling thread then use. */
    public SimulatedStore(
            Dice dice, Schedule schedule, Conditions conditions, StoreWatcher watcher) {
        this.dice = dice;
        this.schedule = schedule;
        this.conditions = conditions;
        this.lane = schedule.lane("store");
        this.weather = new Weather(dice, schedule, conditions);
        this.link =
                conditions.has(Condition.SHARED_LINK)
                        ? new SharedLink(schedule, lane, LINK_BYTES_PER_SECOND)
                        : null;
        this.watcher = watcher;
        CURRENT.get().set(this);
    }

    /** Starts the stalls. */
    public void start() {
        weather.stallOnAndOff(
                this::later,
                stalled -> {
                    if (link != null) {
                        link.stall(stalled);
                    }
                });
    }

    /** Returns the link that all processes share; null if there is none. */
    @Nullable
    public SharedLink link() {
        return link;
    }

    Conditions conditions() {
        return conditions;
    }

    static SimulatedStore current() {
        AtomicReference<SimulatedStore> store = CURRENT.get();
        if (store == null) {
            throw new IllegalStateException("No simulation runs on " + Thread.currentThread());
        }
        return store.get();
    }

    /** Returns the configured base path. */
    public Path basePath() {
        return new Path(SimulatedFileSystem.SCHEME + "://store/base");
    }

    /** Returns the store as seen by a process. */
    public SimulatedFileSystem client(String client) {
        return new SimulatedFileSystem(basePath().toUri(), client, () -> this);
    }

    public Weather weather() {
        return weather;
    }

    /** Counts a write that ignores interrupts and never ends. */
    void uninterruptible(String client) {
        uninterruptibleWrites.merge(client, 1, Integer::sum);
    }

    /** Number of such writes of a client. */
    public int uninterruptibleWrites(String client) {
        return uninterruptibleWrites.getOrDefault(client, 0);
    }

    Dice dice() {
        return dice;
    }

    /** Schedules an action of the store itself. */
    void later(long delayMillis, String what, Runnable action) {
        lane.addIn(delayMillis, what, action);
    }

    void note(String client, String what) {
        schedule.note(client, what);
    }

    void create(Path file, String client) {
        beingWritten.add(file.getPath());
        watcher.created(file.getPath(), client);
    }

    /** Ends a write whose client has an answer or no longer waits for one. */
    void written(Path file, String client, long bytes, boolean faultless) {
        beingWritten.remove(file.getPath());
        watcher.sent(file.getPath(), client, bytes, faultless);
    }

    /** Tells a client that its write has succeeded. */
    void answered(Path file, String client) {
        watcher.answered(file.getPath(), client);
    }

    /** Whether some client still waits for an answer. */
    public boolean isBeingWritten(String file) {
        return beingWritten.contains(file);
    }

    /** Stores the bytes, whatever the client is told. */
    void put(Path path, byte[] bytes) {
        String file = path.getPath();
        if (files.put(file, bytes) != null) {
            losses++;
        }
        schedule.note("store", "has " + file);
        if (deleted.contains(file)) {
            storedAfterDelete.add(file);
        }
        long invisible = weather.invisibleMillis();
        if (invisible > 0) {
            visibleFromMillis.put(file, schedule.nowMillis() + invisible);
        }
        watcher.stored(file);
    }

    boolean delete(Path path, String client) throws IOException {
        String file = path.getPath();
        boolean fails = !client.equals(SimulatedFileSystem.READER) && weather.failsDelete();
        boolean done = !fails || dice.percent(30);
        boolean existed = files.containsKey(file);
        if (done) {
            files.remove(file);
            deleted.add(file);
            losses++;
        }
        schedule.note(client, (done ? "deletes " : "cannot delete ") + file);
        watcher.deleteRequested(file, client, existed, done);
        if (fails) {
            throw failure("Deleting failed");
        }
        return existed && isVisible(file);
    }

    boolean exists(Path path) {
        return files.containsKey(path.getPath()) && isVisible(path.getPath());
    }

    /** Answers a ping like an empty read: with delays and faults. */
    void answer() throws IOException {
        awaitReading();
    }

    byte[] read(Path path) throws IOException {
        String file = path.getPath();
        if (!clearSight) {
            awaitReading();
        }
        byte[] bytes = files.get(file);
        if (bytes == null || !(clearSight || isVisible(file))) {
            throw new FileNotFoundException(path.toString());
        }
        return bytes;
    }

    /** Waits like a thread of a process; checks do not wait. */
    private void awaitReading() throws IOException {
        boolean fails = Fiber.isCurrent() ? weather.failsReadOfProcess() : weather.failsRead();
        if (Fiber.isCurrent()) {
            if (weather.hangsRead()) {
                schedule.note("store", "leaves a read hanging");
                Waiting.on(new Fiber.Pause());
            }
            Waiting.forMillis(this, weather.latencyMillis());
        }
        if (fails) {
            throw failure("Reading failed");
        }
    }

    private boolean isVisible(String file) {
        Long from = visibleFromMillis.get(file);
        return from == null || from <= schedule.nowMillis();
    }

    /** Reads without faults, for checks. */
    public <T> T withoutFaults(Reading<T> reading) throws IOException {
        clearSight = true;
        try {
            return reading.read();
        } finally {
            clearSight = false;
        }
    }

    /** A read. */
    public interface Reading<T> {
        T read() throws IOException;
    }

    /** A failure as clients report it. */
    IOException failure(String message) {
        if (weather.throwsUnchecked()) {
            throw new UncheckedIOException(new IOException(message));
        }
        return new IOException(message);
    }

    /** All files, visible or not. */
    public Set<String> files() {
        return files.keySet();
    }

    /** Content of a file, visible or not. */
    @Nullable
    public byte[] bytes(String file) {
        return files.get(file);
    }

    /** Files that were stored after their deletion. */
    public Set<String> storedAfterDelete() {
        return storedAfterDelete;
    }

    /** Records that a write that has failed will be stored within half a minute. */
    void willStoreSoon(Path path) {
        storedSoonAfterFailure.add(path.getPath());
    }

    /** Files that were stored within half a minute after their write had failed. */
    public Set<String> storedSoonAfterFailure() {
        return storedSoonAfterFailure;
    }

    /** Counter that grows whenever a file is deleted or replaced. */
    public long losses() {
        return losses;
    }
}
