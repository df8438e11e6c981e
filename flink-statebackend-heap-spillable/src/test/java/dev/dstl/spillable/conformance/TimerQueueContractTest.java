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

package dev.dstl.spillable.conformance;

import dev.dstl.spillable.SpillableStateBackend;
import java.util.Collections;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.InternalPriorityQueue;
import org.apache.flink.runtime.state.InternalPriorityQueueTestBase;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;

/** Flink's contract of timer queues, on the queues of the backend. */
class TimerQueueContractTest extends InternalPriorityQueueTestBase {

    @Override
    protected InternalPriorityQueue<TestElement> newPriorityQueue(int initialCapacity) {
        try {
            return new SpillableStateBackend()
                    .createKeyedStateBackend(
                            new KeyedStateBackendParametersImpl<>(
                                    MockEnvironment.builder().build(),
                                    new JobID(),
                                    "timers",
                                    LongSerializer.INSTANCE,
                                    KEY_GROUP_RANGE.getNumberOfKeyGroups(),
                                    KEY_GROUP_RANGE,
                                    null,
                                    TtlTimeProvider.DEFAULT,
                                    new UnregisteredMetricsGroup(),
                                    (name, value) -> {},
                                    Collections.emptyList(),
                                    new CloseableRegistry(),
                                    1.0))
                    .create("timers", TestElementSerializer.INSTANCE);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected boolean testSetSemanticsAgainstDuplicateElements() {
        return true;
    }
}
