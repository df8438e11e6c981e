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

package dev.dstl.spillable.incremental;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the incremental checkpoints of one backend are copied to on the local disk, and how many
 * were. Flink deletes the copy of a checkpoint when a later one completes. Thread-safe.
 */
public final class LocalBackup implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(LocalBackup.class);

    /** Null if checkpoints are not copied. */
    @Nullable private final LocalSnapshotDirectoryProvider directories;

    private final AtomicLong copies = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicBoolean failing = new AtomicBoolean();
    private final AtomicBoolean postponing = new AtomicBoolean();
    private final LongSupplier clockNanos;

    /** Made with the first checkpoint that is copied. */
    @Nullable private UnfinishedCopies unfinished;

    private boolean closed;

    /**
     * @param config whether checkpoints are copied, and where to
     */
    public LocalBackup(LocalRecoveryConfig config) {
        this(config, System::nanoTime);
    }

    /**
     * @param clockNanos time in nanoseconds, for how long checkpoints copy files
     */
    LocalBackup(LocalRecoveryConfig config, LongSupplier clockNanos) {
        this.clockNanos = clockNanos;
        this.directories =
                config.isLocalBackupEnabled()
                        ? config.getLocalStateDirectoryProvider()
                                .orElseThrow(LocalRecoveryConfig.localRecoveryNotEnabled())
                        : null;
    }

    /** Number of checkpoints copied so far. */
    public long copies() {
        return copies.get();
    }

    /** Number of checkpoints that could not be copied so far. */
    public long failures() {
        return failures.get();
    }

    /** Starts the copy of a checkpoint; null if checkpoints are not copied, or not any more. */
    @Nullable
    synchronized LocalSnapshot begin(UUID backendId, long checkpointId) {
        if (directories == null || closed) {
            return null;
        }
        File subtask = subtask(directories, backendId);
        if (unfinished == null) {
            unfinished =
                    new UnfinishedCopies(
                            subtask.toPath().resolve("dstl-copies-" + UUID.randomUUID()));
        }
        return new LocalSnapshot(
                this, directory(directories, subtask, checkpointId), unfinished, clockNanos);
    }

    /**
     * All checkpoints of a backend are on the same disk: there are no hard links between disks,
     * among which Flink distributes the checkpoints.
     */
    private static File subtask(LocalSnapshotDirectoryProvider directories, UUID backendId) {
        return directories.selectSubtaskBaseDirectory(
                Math.floorMod(backendId.hashCode(), directories.allocationBaseDirsCount()));
    }

    private static Path directory(
            LocalSnapshotDirectoryProvider directories, File subtask, long checkpointId) {
        File checkpoint = directories.subtaskSpecificCheckpointDirectory(checkpointId);
        String name = UUID.randomUUID().toString();
        // Flink deletes the directory of the checkpoint, but not one elsewhere around the copy.
        return subtask.equals(checkpoint.getParentFile())
                ? checkpoint.toPath().resolve(name)
                : subtask.toPath().resolve(checkpoint.getName() + "-" + name);
    }

    /** A checkpoint was copied. */
    void copied() {
        copies.incrementAndGet();
        failing.set(false);
        postponing.set(false);
    }

    /** A checkpoint has left files to be copied by later ones. */
    void postponed() {
        failing.set(false);
        if (!postponing.getAndSet(true)) {
            LOG.info(
                    "The local disk takes the files of checkpoints more slowly than they come, as"
                            + " after a restore from the checkpoint storage. Later checkpoints copy"
                            + " the rest; until then a restore needs the checkpoint storage.");
        }
    }

    /** A checkpoint was not copied. */
    void failed(Path directory, Exception failure) {
        failures.incrementAndGet();
        if (!failing.getAndSet(true)) {
            LOG.warn(
                    "A checkpoint is not copied to {} for local recovery, which needs the"
                            + " checkpoint storage until this works again. The checkpoint itself"
                            + " is complete.",
                    directory,
                    failure);
        }
    }

    /** Deletes copies that belong to no checkpoint. Any thread. */
    @Override
    public void close() throws IOException {
        UnfinishedCopies last;
        synchronized (this) {
            closed = true;
            last = unfinished;
        }
        if (last != null) {
            last.close();
        }
    }
}
