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

package dev.dstl.spillable.chunk;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories of one backend, one under each local disk, named {@code
 * dstl-spill-<process>-<uuid>}.
 *
 * <p>A lock on the file {@code owner.lock} says that the owner lives; the operating system drops it
 * with the process. A directory gets its name when the lock is held, so one whose lock can be had
 * is a leftover. Nothing else under the disks is ever touched. Used on the task thread.
 *
 * <p>The lock files of one's own process are never opened again: closing any channel to a file
 * drops all locks that the process has on it.
 */
public final class SpillDirectories implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SpillDirectories.class);

    private static final String PREFIX = "dstl-spill-";
    private static final String OWN_PREFIX = PREFIX + process() + "-";
    private static final String WITHOUT_LOCK = ".new";
    private static final String LOCK_FILE = "owner.lock";

    /** Far longer than it takes from making a directory to locking it. */
    private static final long LEFTOVER_WITHOUT_LOCK_MILLIS = TimeUnit.HOURS.toMillis(1);

    /** Under which all copies of this class, in any class loader, find the same name. */
    private static final String PROCESS_PROPERTY = "dev.dstl.spillable.process";

    private final List<SpillDirectory> directories = new ArrayList<>();
    private final List<FileChannel> locks = new ArrayList<>();

    /**
     * Makes the directories.
     *
     * @param disks what {@link #prepare} has seen
     * @throws IOException if not one of them can be used
     */
    public SpillDirectories(List<Path> disks) throws IOException {
        String name = OWN_PREFIX + UUID.randomUUID();
        List<IOException> failures = new ArrayList<>();
        for (Path disk : disks) {
            Path unlocked = disk.resolve(name + WITHOUT_LOCK);
            FileChannel lock = null;
            try {
                Files.createDirectories(unlocked);
                lock = lockedOwnerFile(unlocked);
                directories.add(new SpillDirectory(Files.move(unlocked, disk.resolve(name))));
                locks.add(lock);
            } catch (IOException e) {
                LOG.warn("Cannot spill to {}; other directories are used.", disk, e);
                failures.add(e);
                IOUtils.closeQuietly(lock);
                FileUtils.deleteDirectoryQuietly(unlocked.toFile());
            }
        }
        if (directories.isEmpty()) {
            throw unusable(disks, failures);
        }
    }

    private static String process() {
        String drawn = UUID.randomUUID().toString();
        Object known = System.getProperties().putIfAbsent(PROCESS_PROPERTY, drawn);
        return known == null ? drawn : known.toString();
    }

    /**
     * Looks at the disks of a backend that may never need them: makes those that are missing,
     * deletes what killed processes left behind, and notices now what else would be noticed when
     * the heap is short.
     *
     * @throws IOException if not one of them can be used
     */
    public static void prepare(List<Path> disks) throws IOException {
        List<IOException> failures = new ArrayList<>();
        for (Path disk : disks) {
            try {
                Files.createDirectories(disk);
                if (!Files.isWritable(disk)) {
                    throw new AccessDeniedException(disk.toString(), null, "not writable");
                }
                deleteLeftovers(disk);
            } catch (IOException e) {
                failures.add(e);
            }
        }
        if (failures.size() == disks.size()) {
            throw unusable(disks, failures);
        }
        failures.forEach(e -> LOG.warn("A directory cannot take spilled state.", e));
    }

    private static IOException unusable(List<Path> disks, List<IOException> failures) {
        IOException unusable =
                new IOException(
                        "No directory to spill state to is usable: "
                                + disks
                                + ". Name writable directories in"
                                + " state.backend.spillable.directories or io.tmp.dirs.");
        failures.forEach(unusable::addSuppressed);
        return unusable;
    }

    private static FileChannel lockedOwnerFile(Path directory) throws IOException {
        FileChannel channel =
                FileChannel.open(
                        directory.resolve(LOCK_FILE),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock();
        if (lock == null) {
            channel.close();
            throw new IOException("Another process holds " + directory.resolve(LOCK_FILE));
        }
        return channel;
    }

    private static void deleteLeftovers(Path disk) throws IOException {
        try (DirectoryStream<Path> candidates = Files.newDirectoryStream(disk, PREFIX + "*")) {
            for (Path candidate : candidates) {
                boolean isOwn = candidate.getFileName().toString().startsWith(OWN_PREFIX);
                if (!isOwn && isLeftover(candidate)) {
                    LOG.info("Deleting {}, left behind by a process that is gone.", candidate);
                    FileUtils.deleteDirectoryQuietly(candidate.toFile());
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static boolean isLeftover(Path directory) {
        Path lockFile = directory.resolve(LOCK_FILE);
        try {
            if (directory.toString().endsWith(WITHOUT_LOCK) || !Files.isRegularFile(lockFile)) {
                long modifiedMillis = Files.getLastModifiedTime(directory).toMillis();
                return modifiedMillis < System.currentTimeMillis() - LEFTOVER_WITHOUT_LOCK_MILLIS;
            }
            try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.WRITE);
                    FileLock lock = channel.tryLock()) {
                return lock != null;
            }
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (IOException e) {
            LOG.debug("Cannot tell whether {} is still in use; leaving it.", directory, e);
            return false;
        }
    }

    List<SpillDirectory> directories() {
        return Collections.unmodifiableList(directories);
    }

    /**
     * Deletes the directories and gives the locks up; goes on with the others if one fails.
     *
     * @throws IOException if a directory cannot be deleted
     */
    @Override
    public void close() throws IOException {
        IOException failure = null;
        for (SpillDirectory directory : directories) {
            try {
                FileUtils.deleteDirectory(directory.path().toFile());
            } catch (IOException e) {
                failure = ExceptionUtils.firstOrSuppressed(e, failure);
            }
        }
        for (FileChannel lock : locks) {
            try {
                lock.close();
            } catch (IOException e) {
                failure = ExceptionUtils.firstOrSuppressed(e, failure);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
