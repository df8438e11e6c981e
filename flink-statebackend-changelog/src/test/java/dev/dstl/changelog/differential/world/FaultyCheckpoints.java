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

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.util.ExceptionUtils;

/** Checkpoint storage of a task, in which task-owned files fail at random. Thread-safe. */
final class FaultyCheckpoints {

    private static final String MESSAGE = "The store fails";

    private final CheckpointStorageAccess access;
    private volatile boolean faulty;

    FaultyCheckpoints(CheckpointStorageAccess healthy) {
        access =
                (CheckpointStorageAccess)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {CheckpointStorageAccess.class},
                                (proxy, method, arguments) -> {
                                    if (faulty
                                            && method.getName()
                                                    .equals("createTaskOwnedStateStream")) {
                                        throw new IOException(MESSAGE);
                                    }
                                    try {
                                        return method.invoke(healthy, arguments);
                                    } catch (InvocationTargetException e) {
                                        throw e.getCause();
                                    }
                                });
    }

    /** Whether an injected fault is the cause of a failure. */
    static boolean isCauseOf(Throwable failure) {
        return ExceptionUtils.findThrowableWithMessage(failure, MESSAGE).isPresent();
    }

    CheckpointStorageAccess access() {
        return access;
    }

    boolean isFaulty() {
        return faulty;
    }

    void setFaulty(boolean isFaulty) {
        faulty = isFaulty;
    }
}
