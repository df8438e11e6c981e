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

package org.apache.flink.runtime.state.ttl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.spillable.conformance.Placement;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.CheckpointStorage;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.testutils.junit.extensions.parameterized.ParameterizedTestExtension;
import org.apache.flink.util.StateMigrationException;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/** Flink's contract of state with a time to live. */
@ExtendWith(ParameterizedTestExtension.class)
class SpillableTtlStateTest extends TtlStateTestBase {

    @Override
    protected StateBackendTestContext createStateBackendTestContext(TtlTimeProvider timeProvider) {
        return new StateBackendTestContext(timeProvider) {
            @Override
            protected StateBackend createStateBackend() {
                return placement().backend();
            }

            @Override
            protected CheckpointStorage createCheckpointStorage() {
                return new JobManagerCheckpointStorage();
            }
        };
    }

    protected Placement placement() {
        return Placement.ON_HEAP;
    }

    @Override
    protected boolean incrementalCleanupSupported() {
        return true;
    }

    /** Flink's own backends convert such state in Flink 2. */
    @Override
    @TestTemplate
    protected void testRestoreTtlAndRegisterNonTtlStateCompatFailure() throws Exception {
        initTest(getConfBuilder(TTL).build());
        timeProvider.time = 0;
        ctx().update(ctx().updateEmpty);
        KeyedStateHandle snapshot = sbetc.takeSnapshot();
        sbetc.createAndRestoreKeyedStateBackend(snapshot);
        sbetc.setCurrentKey("defaultKey");
        assertThatThrownBy(() -> sbetc.createState(ctx().createStateDescriptor(), ""))
                .isInstanceOf(StateMigrationException.class);
    }

    /** Like the overridden test, which depends on a class of Flink's heap states. */
    @Override
    @TestTemplate
    void testIncrementalCleanupWholeState() throws Exception {
        int keys = 970;
        initTest(getConfBuilder(TTL).cleanupIncrementally(5, true).build());
        timeProvider.time = 0;
        for (int i = 0; i < keys; i++) {
            sbetc.setCurrentKey(Integer.toString(i));
            ctx().update(ctx().updateEmpty);
        }

        timeProvider.time = 120;
        // An entry may be missed by the walk that meets its key group on the move.
        int walks = placement() == Placement.RANDOM ? 8 : 1;
        for (int i = 0; i < keys * walks; i++) {
            sbetc.setCurrentKey(Integer.toString(i % keys));
        }

        AbstractKeyedStateBackend<String> backend = sbetc.getKeyedStateBackend();
        assertThat(backend.numKeyValueStateEntries()).isZero();
    }
}
