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

package dev.dstl.changelog.contract;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.RunnableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.streaming.api.operators.StreamOperatorStateHandler;

/** Sets the changelog storage in suites of Flink that build their own environment. */
final class StorageInjection implements StateBackend {

    private static final long serialVersionUID = 1L;

    private final transient StateBackend backend;
    private final transient TaskStateManager taskStateManager;
    private final transient CheckpointStorageAccess checkpoints;
    private final transient BooleanSupplier savepoints;

    /**
     * @param savepoints whether a savepoint in the canonical format is to be taken whenever the
     *     suite asks for a checkpoint
     */
    StorageInjection(
            StateBackend backend, TaskStateManager taskStateManager, BooleanSupplier savepoints) {
        this.backend = backend;
        this.savepoints = savepoints;
        this.taskStateManager = taskStateManager;
        try {
            this.checkpoints =
                    new JobManagerCheckpointStorage().createCheckpointStorage(new JobID());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws Exception {
        return injectSavepoints(
                backend.createKeyedStateBackend(
                        new KeyedStateBackendParametersImpl<>(
                                inject(parameters.getEnv()),
                                parameters.getJobID(),
                                parameters.getOperatorIdentifier(),
                                parameters.getKeySerializer(),
                                parameters.getNumberOfKeyGroups(),
                                parameters.getKeyGroupRange(),
                                parameters.getKvStateRegistry(),
                                parameters.getTtlTimeProvider(),
                                parameters.getMetricGroup(),
                                parameters.getCustomInitializationMetrics(),
                                parameters.getStateHandles(),
                                parameters.getCancelStreamRegistry(),
                                parameters.getManagedMemoryFraction())));
    }

    @SuppressWarnings("unchecked")
    private <K> CheckpointableKeyedStateBackend<K> injectSavepoints(
            CheckpointableKeyedStateBackend<K> keyed) {
        return (CheckpointableKeyedStateBackend<K>)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        interfaces(keyed),
                        (proxy, method, arguments) ->
                                method.getName().equals("snapshot") && savepoints.getAsBoolean()
                                        ? savepoint(keyed, arguments)
                                        : call(method, keyed, arguments));
    }

    /** Includes the interfaces of superclasses. */
    private static Class<?>[] interfaces(CheckpointableKeyedStateBackend<?> keyed) {
        return Stream.concat(
                        Stream.of(CheckpointableKeyedStateBackend.class),
                        Stream.of(keyed.getClass().getInterfaces()))
                .distinct()
                .toArray(Class<?>[]::new);
    }

    private static RunnableFuture<?> savepoint(
            CheckpointableKeyedStateBackend<?> keyed, Object[] arguments) throws Exception {
        return StreamOperatorStateHandler.prepareCanonicalSavepoint(keyed, new CloseableRegistry())
                .snapshot(
                        (long) arguments[0],
                        (long) arguments[1],
                        (CheckpointStreamFactory) arguments[2],
                        (CheckpointOptions) arguments[3]);
    }

    private Environment inject(Environment environment) {
        return (Environment)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {Environment.class},
                        (proxy, method, arguments) -> {
                            switch (method.getName()) {
                                case "getTaskStateManager":
                                    return taskStateManager;
                                case "getCheckpointStorageAccess":
                                    return checkpoints;
                                default:
                                    return call(method, environment, arguments);
                            }
                        });
    }

    private static Object call(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws Exception {
        return backend.createOperatorStateBackend(parameters);
    }
}
