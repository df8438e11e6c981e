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

package dev.dstl.spillable.restore;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.junit.jupiter.api.Test;

class SnapshotStatesTest {

    @Test
    void stateOfAnOperator_isRefusedByName() {
        StateMetaInfoSnapshot operatorState =
                new StateMetaInfoSnapshot(
                        "not keyed",
                        StateMetaInfoSnapshot.BackendStateType.OPERATOR,
                        Collections.emptyMap(),
                        Collections.emptyMap());

        assertThatThrownBy(
                        () ->
                                new SnapshotStates<>(
                                        null,
                                        List.of(operatorState),
                                        IntSerializer.INSTANCE,
                                        IntSerializer.INSTANCE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "State 'not keyed' of the snapshot is of type OPERATOR; a keyed backend"
                                + " restores only keyed state and timers.");
    }
}
