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

package dev.dstl.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.log.api.ChangelogReader;
import dev.dstl.log.api.ChangelogStorage;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.config.Installation;
import dev.dstl.log.metrics.DstlMetrics;
import dev.dstl.log.replay.DstlHandleReader;
import dev.dstl.log.writer.DstlLogWriter;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import javax.annotation.Nullable;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.io.AvailabilityProvider;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * The changelog storage of one job on one TaskManager. Flink creates one for every job. The
 * configuration is checked, and threads and files are created, when the first task with a changelog
 * starts. Thread-safe.
 */
public final class DstlStorage implements ChangelogStorage {

    private final JobID jobId;
    private final Configuration configuration;
    private final MetricGroup metricGroup;
    private final LocalRecoveryConfig localRecovery;
    private final ReentrantLock creation = new ReentrantLock();
    private final AtomicBoolean recognized = new AtomicBoolean();

    @Nullable private volatile JobLog log;

    @GuardedBy("this")
    private boolean closed;

    /** Creates a storage without local copies. Starts no thread and creates no file. */
    public DstlStorage(JobID jobId, Configuration configuration, MetricGroup metricGroup) {
        this(jobId, configuration, metricGroup, LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED);
    }

    /**
     * Creates a storage. Starts no thread and creates no file.
     *
     * @param localRecovery configuration of local recovery of the first task of the job; says
     *     whether and where segments are copied to the local disk
     */
    public DstlStorage(
            JobID jobId,
            Configuration configuration,
            MetricGroup metricGroup,
            LocalRecoveryConfig localRecovery) {
        this.jobId = jobId;
        this.configuration = configuration;
        this.metricGroup = metricGroup;
        this.localRecovery = localRecovery;
    }

    @Override
    public void restoring() {
        if (recognized.compareAndSet(false, true)) {
            DstlMetrics.registerRelease(metricGroup);
        }
    }

    /**
     * Creates the changelog writer of a keyed backend. Called on the task thread. Blocks for at
     * most a few seconds, while the first caller sets up the file system of the base path.
     *
     * @throws org.apache.flink.configuration.IllegalConfigurationException if the changelog cannot
     *     work with this configuration or this installation
     */
    @Override
    public ChangelogWriter createWriter(
            String operatorId, KeyGroupRange keyGroupRange, MailboxExecutor mailboxExecutor) {
        DstlLogWriter writer = jobLog().createWriter(operatorId, keyGroupRange, mailboxExecutor, 1);
        // Flink's own changelog backend does not say what it has restored.
        writer.restoredFromLatest();
        return writer;
    }

    @Override
    public ChangelogWriter createWriter(
            String operatorId,
            KeyGroupRange keyGroupRange,
            MailboxExecutor mailboxExecutor,
            int parallelism) {
        return jobLog().createWriter(operatorId, keyGroupRange, mailboxExecutor, parallelism);
    }

    private JobLog jobLog() {
        JobLog existing = log;
        if (existing != null) {
            return existing;
        }
        try {
            creation.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted(e);
        }
        try {
            existing = log;
            return existing != null ? existing : publish(createLog());
        } finally {
            creation.unlock();
        }
    }

    private JobLog createLog() {
        Installation.ofProcess().verify();
        restoring();
        try {
            return JobLog.open(jobId, DstlSettings.from(configuration), metricGroup, localRecovery);
        } catch (InterruptedIOException e) {
            throw interrupted(e);
        }
    }

    private static FlinkRuntimeException interrupted(Exception cause) {
        return new FlinkRuntimeException("Interrupted while the changelog was set up", cause);
    }

    private synchronized JobLog publish(JobLog created) {
        if (closed) {
            created.close();
            throw new IllegalStateException("The changelog storage of job " + jobId + " is closed");
        }
        log = created;
        return created;
    }

    @Override
    public Optional<String> storeProblem() {
        JobLog existing = log;
        return existing == null ? Optional.empty() : existing.storeProblem();
    }

    /**
     * Returns a reader without read-ahead. A restore reads through {@link DstlStorageView} instead.
     */
    @Override
    public ChangelogReader createReader() {
        return new DstlHandleReader();
    }

    /**
     * Returns whether tasks may read input, which they may not while the changelog memory is used
     * up. Flink asks before the first writer exists, and also for tasks without a changelog.
     */
    @Override
    public AvailabilityProvider getAvailabilityProvider() {
        return this::availableFuture;
    }

    private CompletableFuture<?> availableFuture() {
        JobLog existing = log;
        return existing == null ? AvailabilityProvider.AVAILABLE : existing.availableFuture();
    }

    @Override
    public void close() {
        JobLog existing;
        synchronized (this) {
            closed = true;
            existing = log;
        }
        if (existing != null) {
            existing.close();
        }
    }
}
