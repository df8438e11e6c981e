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

package dev.dstl.spillable;

import dev.dstl.spillable.config.SpillConfig;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.pressure.GarbageCollectionListener;
import dev.dstl.spillable.pressure.SpillArbiter;
import dev.dstl.spillable.spill.SpillCounters;
import dev.dstl.spillable.spill.SpillMetrics;
import dev.dstl.spillable.spill.SpillScheduler;
import dev.dstl.spillable.spill.StateMover;
import dev.dstl.spillable.table.StateRegistry;
import java.io.IOException;
import java.util.concurrent.ThreadFactory;
import javax.annotation.Nullable;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.memory.SharedResources;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The arbiter that all backends of a TaskManager share, kept among Flink's shared resources as long
 * as one of them lives. Copies of this class in other class loaders have arbiters of their own.
 */
final class TaskManagerArbiter {

    private static final Logger LOG = LoggerFactory.getLogger(TaskManagerArbiter.class);

    /** Under which the arbiter is shared. */
    static final String NAME =
            SpillArbiter.class.getName()
                    + "@"
                    + System.identityHashCode(SpillArbiter.class.getClassLoader());

    /** One for a backend that spills for the first time. */
    private static final ThreadFactory OPENER_THREADS =
            new ExecutorThreadFactory("dstl-spill-directories");

    private final SharedResources resources;

    TaskManagerArbiter(SharedResources resources) {
        this.resources = resources;
    }

    /** A scheduler that obeys the arbiter until it is closed. */
    StateMover newScheduler(
            SpillConfig config,
            StateRegistry<?> states,
            SpillSpace space,
            @Nullable MailboxExecutor mailbox,
            MetricGroup metricGroup)
            throws Exception {
        Object lease = new Object();
        SpillArbiter arbiter =
                resources
                        .<SpillArbiter>getOrAllocateSharedResource(
                                NAME,
                                lease,
                                size ->
                                        new SpillArbiter(
                                                () -> System.nanoTime() / 1_000_000,
                                                GarbageCollectionListener.oldGenerationBytes(),
                                                GarbageCollectionListener::start),
                                0)
                        .resourceHandle();
        SpillCounters counters = new SpillCounters();
        SpillScheduler scheduler =
                new SpillScheduler(
                        config,
                        arbiter,
                        states,
                        space,
                        command -> OPENER_THREADS.newThread(command).start(),
                        mailbox,
                        System::nanoTime,
                        counters);
        return new StateMover() {
            @Override
            public void keySelected() {
                scheduler.keySelected();
            }

            @Override
            public boolean restoresToHeap(long serializedBytes) throws IOException {
                return scheduler.restoresToHeap(serializedBytes);
            }

            @Override
            public void keyGroupRestored() {
                scheduler.keyGroupRestored();
            }

            @Override
            public void started() {
                SpillMetrics.register(metricGroup, counters, space, arbiter);
            }

            @Override
            public void close() {
                scheduler.close();
                try {
                    resources.release(NAME, lease, size -> {});
                } catch (Exception e) {
                    LOG.warn("The garbage collector still notifies the spill arbiter.", e);
                }
            }
        };
    }
}
