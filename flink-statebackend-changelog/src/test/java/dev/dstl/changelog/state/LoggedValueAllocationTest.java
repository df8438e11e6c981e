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

package dev.dstl.changelog.state;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.dstl.changelog.fixture.CountingLogWriter;
import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.record.ChangelogAppender;
import java.lang.management.ManagementFactory;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalValueState;
import org.junit.jupiter.api.Test;

class LoggedValueAllocationTest {

    private static final int UPDATES = 200_000;

    @Test
    void loggedUpdatesOfAValue_allocateNothing() throws Exception {
        CountingLogWriter writer = new CountingLogWriter();
        try (Delegate<Long> delegate = Delegate.Kind.HASH_MAP.create(LongSerializer.INSTANCE)) {
            InternalValueState<Long, VoidNamespace, String> state =
                    (InternalValueState<Long, VoidNamespace, String>)
                            new LoggedStateRegistry<>(
                                            delegate.backend(), new ChangelogAppender(writer))
                                    .createOrUpdateState(
                                            VoidNamespaceSerializer.INSTANCE,
                                            new ValueStateDescriptor<>(
                                                    "value", StringSerializer.INSTANCE),
                                            StateSnapshotTransformFactory.noTransform(),
                                            false);
            state.setCurrentNamespace(VoidNamespace.INSTANCE);
            delegate.backend().setCurrentKey(4711L);
            update(state);

            long before = allocatedBytes();
            update(state);
            long allocated = allocatedBytes() - before;

            assertThat(writer.records()).isEqualTo(2 * UPDATES + 1);
            assertThat(writer.bytes()).isPositive();
            // what the JVM itself does on this thread meanwhile, and nothing per update
            assertThat((double) allocated / UPDATES).as("bytes per update").isLessThan(0.5);
        }
    }

    private static void update(InternalValueState<Long, VoidNamespace, String> state)
            throws Exception {
        for (int i = 0; i < UPDATES; i++) {
            state.update((i & 1) == 0 ? "a value of the usual length" : "another one");
        }
    }

    private static long allocatedBytes() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    }
}
