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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TaskStateManager;

/** Gives a backend a log storage in those suites of Flink that build their environment alone. */
final class StorageInjection implements StateBackend {

    private static final long serialVersionUID = 1L;

    private final transient StateBackend backend;
    private final transient TaskStateManager taskStateManager;

    StorageInjection(StateBackend backend, TaskStateManager taskStateManager) {
        this.backend = backend;
        this.taskStateManager = taskStateManager;
    }

    @Override
    public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws Exception {
        return backend.createKeyedStateBackend(
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
                        parameters.getManagedMemoryFraction()));
    }

    private Environment inject(Environment environment) {
        return (Environment)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {Environment.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("getTaskStateManager")) {
                                return taskStateManager;
                            }
                            try {
                                return method.invoke(environment, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws Exception {
        return backend.createOperatorStateBackend(parameters);
    }
}
