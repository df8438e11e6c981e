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

package dev.dstl.log.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.function.FunctionWithException;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Marks the directories of copies that belong to a live process. A process locks a file next to a
 * directory before it creates the directory; the operating system releases the lock when the
 * process ends, however it ends.
 *
 * <pre>
 *   dstl_jid_&lt;job&gt; / &lt;incarnation&gt;.lock     locked as long as its owner lives
 *                  / &lt;incarnation&gt; / 42.seg
 * </pre>
 *
 * <p>A process loses all its locks on a file as soon as it closes any channel on it. So there is
 * one channel per file and process, and a process never opens the files of its own directories
 * again.
 */
final class DirectoryLocks {

    static final String SUFFIX = ".lock";

    private static final int TRIES = 10;

    private static final Object GUARD = new Object();

    /**
     * Channels that hold the locks of this process, by lock file. Null if there is no lock file,
     * while the directory is deleted.
     */
    @GuardedBy("GUARD")
    private static final Map<File, FileChannel> OWNED = new HashMap<>();

    private DirectoryLocks() {}

    private static File lockFile(File directory) {
        return new File(directory.getAbsoluteFile().getParentFile(), directory.getName() + SUFFIX);
    }

    /**
     * Locks a directory for this process, before the directory is created. No effect if this
     * process already owns it.
     *
     * @throws IOException if the file system has no locks, or another process owns the directory
     */
    static void own(File directory) throws IOException {
        own(directory, FileChannel::tryLock);
    }

    static void own(
            File directory, FunctionWithException<FileChannel, FileLock, IOException> tryLock)
            throws IOException {
        File file = lockFile(directory);
        synchronized (GUARD) {
            if (OWNED.containsKey(file)) {
                return;
            }
            for (int i = 0; i < TRIES; i++) {
                FileChannel channel = open(file);
                if (channel == null) {
                    continue;
                }
                boolean owned = false;
                try {
                    owned = lock(channel, tryLock) && file.exists();
                } finally {
                    if (!owned) {
                        channel.close();
                    }
                }
                if (owned) {
                    OWNED.put(file, channel);
                    return;
                }
                // Another process just checked whether it has an owner, and deleted it.
            }
        }
        throw new IOException("Cannot lock " + file);
    }

    private static FileChannel open(File file) throws IOException {
        Files.createDirectories(file.getParentFile().toPath());
        try {
            return FileChannel.open(
                    file.toPath(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (NoSuchFileException directoryGone) {
            return null;
        }
    }

    /** Locks the file until the channel is closed. */
    private static boolean lock(
            FileChannel channel, FunctionWithException<FileChannel, FileLock, IOException> tryLock)
            throws IOException {
        try {
            FileLock lock = tryLock.apply(channel);
            return lock != null;
        } catch (OverlappingFileLockException heldByThisProcess) {
            return false;
        }
    }

    /**
     * Deletes a directory of this process with its content, and releases its lock. If not
     * everything can be deleted, the directory has no owner any more, and {@link #deleteIfDead}
     * deletes it.
     */
    static void deleteOwn(File directory) throws IOException {
        deleteOwn(directory, FileUtils::deleteDirectory);
    }

    /** Deletes without the guard, as copies of all jobs wait for it. */
    private static void deleteOwn(File directory, ThrowingConsumer<File, IOException> deletion)
            throws IOException {
        File file = lockFile(directory);
        boolean deleted = false;
        try {
            deletion.accept(directory);
            deleted = true;
        } finally {
            synchronized (GUARD) {
                FileChannel channel = OWNED.remove(file);
                try {
                    if (deleted) {
                        Files.deleteIfExists(file.toPath());
                    }
                } finally {
                    if (channel != null) {
                        channel.close();
                    }
                }
            }
        }
    }

    /**
     * Deletes a directory with its content, unless a live process owns it. Meanwhile this process
     * owns it.
     *
     * @throws IOException if that cannot be determined, or not everything could be deleted
     */
    static void deleteIfDead(File directory) throws IOException {
        deleteIfDead(directory, FileUtils::deleteDirectory);
    }

    static void deleteIfDead(File directory, ThrowingConsumer<File, IOException> deletion)
            throws IOException {
        if (ownDead(lockFile(directory))) {
            deleteOwn(directory, deletion);
        }
    }

    /** Returns whether nobody owned it. */
    private static boolean ownDead(File file) throws IOException {
        synchronized (GUARD) {
            if (OWNED.containsKey(file)) {
                return false;
            }
            FileChannel channel;
            try {
                channel = FileChannel.open(file.toPath(), StandardOpenOption.WRITE);
            } catch (NoSuchFileException neverOwned) {
                // Owners make the file first and delete it last.
                OWNED.put(file, null);
                return true;
            }
            boolean owned = false;
            try {
                if (lock(channel, FileChannel::tryLock)) {
                    OWNED.put(file, channel);
                    owned = true;
                }
            } finally {
                if (!owned) {
                    channel.close();
                }
            }
            return owned;
        }
    }
}
