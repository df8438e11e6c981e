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

package dev.dstl.changelog.differential.world;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;

/** Objects of Flink whose constructors differ between 1.20 and 2.x. */
final class FlinkConstructors {

    private FlinkConstructors() {}

    /** On 2.x, a state has the name and the uid of its operator, too. */
    static OperatorState operatorState(OperatorID operator, int parallelism, int maxParallelism) {
        Constructor<?> constructor = OperatorState.class.getConstructors()[0];
        Object[] arguments = {null, null, operator, parallelism, maxParallelism};
        int first = arguments.length - constructor.getParameterCount();
        try {
            return (OperatorState)
                    constructor.newInstance(Arrays.copyOfRange(arguments, first, arguments.length));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs the asynchronous part of a snapshot; on 2.x, that is not done by the constructor. */
    static OperatorSnapshotFinalizer finalizer(OperatorSnapshotFutures futures) throws Exception {
        try {
            Class<?> type = OperatorSnapshotFinalizer.class;
            Class<?> argument = OperatorSnapshotFutures.class;
            return (OperatorSnapshotFinalizer)
                    (hasFactory(type, argument)
                            ? type.getMethod("create", argument).invoke(null, futures)
                            : type.getConstructor(argument).newInstance(futures));
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception) {
                throw (Exception) e.getCause();
            }
            throw e;
        }
    }

    private static boolean hasFactory(Class<?> type, Class<?> argument) {
        return Arrays.stream(type.getMethods())
                .anyMatch(
                        method ->
                                Arrays.equals(
                                        method.getParameterTypes(), new Class<?>[] {argument}));
    }
}
