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

package dev.dstl.changelog.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.util.OperatorSubtaskDescriptionText;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of operators of Flink 1.20.5 and 2.3.0, and of Apache Beam. */
class ForeignThreadsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ExternalPythonKeyedProcessOperator",
                "ExternalPythonKeyedCoProcessOperator",
                "ExternalPythonBatchKeyedCoBroadcastProcessOperator",
                "PythonStreamGroupAggregateOperator",
                "PythonStreamGroupTableAggregateOperator",
                "PythonStreamGroupWindowAggregateOperator",
                "StreamArrowPythonGroupWindowAggregateFunctionOperator",
                "StreamArrowPythonRowTimeBoundedRangeOperator",
                "ExecutableStageDoFnOperator"
            })
    void operatorsWithAProcess_haveStatesThatAnotherThreadUses(String operator) {
        assertThat(ForeignThreads.mayUseStatesOf(identifier(operator))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "EmbeddedPythonKeyedProcessOperator",
                "EmbeddedPythonWindowOperator",
                "KeyedProcessOperator",
                "WindowOperator",
                "DoFnOperator",
                "StreamingJoinOperator"
            })
    void others_haveNone(String operator) {
        assertThat(ForeignThreads.mayUseStatesOf(identifier(operator))).isFalse();
    }

    private static String identifier(String operator) {
        return new OperatorSubtaskDescriptionText(new OperatorID(), operator, 0, 1).toString();
    }
}
