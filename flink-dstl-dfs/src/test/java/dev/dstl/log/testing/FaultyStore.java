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

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.Path;

/**
 * Files in memory, behind {@code faulty://name/}, with faults on demand. Reachable through Flink's
 * {@code FileSystem.get} from everywhere in the process, so that handles can be read back.
 * Thread-safe.
 */
public final class FaultyStore implements AutoCloseable {

    private static final Map<String, FaultyStore> STORES = new ConcurrentHashMap<>();
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final long PATIENCE_SECONDS = 30;

    private final String name;
    private final Map<String, byte[]> files = new TreeMap<>();
    private final Map<String, Integer> requests = new TreeMap<>();
    private final Queue<WriteFault> nextFaults = new ArrayDeque<>();
    private Function<Path, WriteFault> faults = path -> WriteFault.NONE;
    private ReadRule reads = path -> {};
    private ReadRule closes = path -> {};
    private long writtenBytes;
    private int hangingReads;
    private boolean deletesFail;
    private boolean parentsNeeded;
    private int hanging;
    private int hangEpoch;

    private FaultyStore(String name) {
        this.name = name;
    }

    /** Creates an empty store without faults; to be closed by the caller. */
    public static FaultyStore create() {
        String name = "store" + COUNT.incrementAndGet();
        FaultyStore store = new FaultyStore(name);
        STORES.put(name, store);
        return store;
    }

    static FaultyStore named(String name) throws IOException {
        FaultyStore store = STORES.get(name);
        if (store == null) {
            throw new IOException("No such store: " + name);
        }
        return store;
    }

    /** Returns a directory in the store. */
    public Path basePath() {
        return new Path("faulty://" + name + "/base");
    }

    /** Sets the faults of the next writes, one each; later ones follow the general rule. */
    public synchronized void failNext(WriteFault... next) {
        nextFaults.addAll(Arrays.asList(next));
    }

    /** Sets the fault of every further write. */
    public void failAlways(WriteFault fault) {
        failBy(path -> fault);
    }

    /** Sets the general rule for further writes. */
    public synchronized void failBy(Function<Path, WriteFault> rule) {
        faults = rule;
    }

    /** Sets an action before each further open and read. */
    public synchronized void beforeReads(ReadRule rule) {
        reads = rule;
    }

    /** Sets an action when each further stream that is read is closed for the first time. */
    public synchronized void whenClosing(ReadRule rule) {
        closes = rule;
    }

    void closing(Path path) throws IOException {
        ReadRule rule;
        synchronized (this) {
            rule = closes;
        }
        rule.check(path);
    }

    /** An action before a read of a file, or when its stream is closed. */
    @FunctionalInterface
    public interface ReadRule {
        void check(Path file) throws IOException;
    }

    void reading(Path path) throws IOException {
        ReadRule rule;
        synchronized (this) {
            rule = reads;
        }
        rule.check(path);
    }

    /** Blocks the calling thread until {@link #releaseHanging}; cannot be interrupted. */
    public synchronized void hangRead() {
        int epoch = hangEpoch;
        boolean interrupted = false;
        hangingReads++;
        notifyAll();
        while (epoch == hangEpoch) {
            try {
                wait();
            } catch (InterruptedException ignored) {
                interrupted = true;
            }
        }
        hangingReads--;
        notifyAll();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Blocks the calling thread until it is interrupted. */
    public synchronized void hangReadUntilInterrupted() throws IOException {
        hangingReads++;
        notifyAll();
        try {
            while (true) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while reading");
        } finally {
            hangingReads--;
        }
    }

    /** Waits until a thread has ended or more than {@code hanging} reads hang. */
    void awaitEndOrHang(Thread thread, int hanging) {
        try {
            while (hangingReads() <= hanging && thread.isAlive()) {
                thread.join(1);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Number of hanging reads. */
    public synchronized int hangingReads() {
        return hangingReads;
    }

    /** Sets whether further deletions fail. */
    public synchronized void failDeletes(boolean fail) {
        deletesFail = fail;
    }

    /** Requires directories to be created before files in them. */
    public synchronized void needParents() {
        parentsNeeded = true;
    }

    /** Resumes all hanging reads and writes. */
    public synchronized void releaseHanging() {
        hangEpoch++;
        notifyAll();
    }

    /** Waits until {@code count} writes hang. */
    public synchronized void awaitHanging(int count) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (hanging < count) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError(
                        "Waited for " + count + " hanging writes, found " + hanging);
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    /** Number of hanging writes. */
    public synchronized int hangingCount() {
        return hanging;
    }

    /** Every file, by its path below the base path. */
    public synchronized List<String> files() {
        String prefix = basePath().getPath() + "/";
        return files.keySet().stream()
                .map(file -> file.startsWith(prefix) ? file.substring(prefix.length()) : file)
                .collect(Collectors.toList());
    }

    /** Every segment's path. */
    public synchronized List<Path> segments() {
        return files.keySet().stream()
                .filter(file -> file.endsWith(".seg"))
                .map(file -> new Path("faulty://" + name + file))
                .collect(Collectors.toList());
    }

    /** Number of requests of a kind: create, mkdirs, delete, getFileStatus, open or list. */
    public synchronized int requests(String kind) {
        return requests.getOrDefault(kind, 0);
    }

    synchronized void count(String kind) {
        requests.merge(kind, 1, Integer::sum);
    }

    synchronized WriteFault faultOf(Path path) {
        WriteFault next = nextFaults.poll();
        return next == null ? faults.apply(path) : next;
    }

    synchronized boolean parentMissing(Path path) {
        return parentsNeeded && !files.containsKey(path.getParent().getPath() + "/");
    }

    synchronized void makeDirectory(Path path) {
        files.put(path.getPath() + "/", new byte[0]);
    }

    /** Size of all files ever written. */
    public synchronized long writtenBytes() {
        return writtenBytes;
    }

    /** Size of all existing files. */
    public synchronized long storedBytes() {
        return files.values().stream().mapToLong(bytes -> bytes.length).sum();
    }

    synchronized void put(Path path, byte[] bytes) {
        writtenBytes += bytes.length;
        files.put(path.getPath(), bytes);
    }

    synchronized byte[] get(Path path) {
        return files.get(path.getPath());
    }

    synchronized boolean remove(Path path) throws IOException {
        if (deletesFail) {
            throw new IOException("Deleting is not allowed");
        }
        return files.remove(path.getPath()) != null;
    }

    synchronized List<String> below(Path path) {
        return files.keySet().stream()
                .filter(file -> file.startsWith(path.getPath() + "/"))
                .collect(Collectors.toList());
    }

    synchronized void hang() throws InterruptedException {
        int epoch = hangEpoch;
        hanging++;
        notifyAll();
        try {
            while (epoch == hangEpoch) {
                wait();
            }
        } finally {
            hanging--;
        }
    }

    /** Resumes everything and unregisters the store. */
    @Override
    public void close() {
        releaseHanging();
        STORES.remove(name);
    }
}
