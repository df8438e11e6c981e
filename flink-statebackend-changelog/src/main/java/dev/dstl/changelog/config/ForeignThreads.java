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

/**
 * Recognizes operators whose states are changed by another thread than the task's: those of PyFlink
 * in process mode, and of Apache Beam's portable runner. A thread of Beam answers the requests of
 * the process that runs the job's functions; at the same time, the task thread sets and fires
 * timers, and runs mails. Before the state backend takes a snapshot, the operator waits until that
 * process has nothing to do.
 */
public final class ForeignThreads {

    private static final String PYFLINK = "Python";

    /** Operators of PyFlink's thread mode, in which Python runs on the task thread. */
    private static final String PYFLINK_THREAD_MODE = "Embedded";

    private static final String BEAM = "ExecutableStageDoFnOperator";

    private ForeignThreads() {}

    /**
     * Returns whether another thread may use the states of an operator.
     *
     * @param operatorIdentifier simple name of the operator's class, {@code _} and more, as Flink's
     *     {@code OperatorSubtaskDescriptionText} composes it
     */
    public static boolean mayUseStatesOf(String operatorIdentifier) {
        String operator = operatorIdentifier.split("_", 2)[0];
        boolean pyFlink = operator.contains(PYFLINK) && !operator.contains(PYFLINK_THREAD_MODE);
        return pyFlink || operator.equals(BEAM);
    }
}
