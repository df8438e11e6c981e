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
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStorageAccess;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.ExceptionUtils;

/**
 * Checkpoint storage of a task, in which task-owned files fail when they are told to. Thread-safe.
 */
final class FaultyCheckpoints {

    /** What of a task-owned file fails. */
    enum Fault {
        NONE,
        CREATE,
        WRITE,
        FINISH;

        /** One in four is a fault. */
        static Fault of(int number) {
            return number % 4 > 0 ? NONE : values()[1 + number / 4 % (values().length - 1)];
        }
    }

    private static final String MESSAGE = "The store fails";

    private final CheckpointStorageAccess access;
    private volatile Fault fault = Fault.NONE;

    FaultyCheckpoints(CheckpointStorageAccess healthy) {
        access =
                (CheckpointStorageAccess)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {CheckpointStorageAccess.class},
                                (proxy, method, arguments) -> {
                                    try {
                                        return method.getName().equals("createTaskOwnedStateStream")
                                                ? taskOwned(healthy)
                                                : method.invoke(healthy, arguments);
                                    } catch (InvocationTargetException e) {
                                        throw e.getCause();
                                    }
                                });
    }

    private CheckpointStateOutputStream taskOwned(CheckpointStorageAccess healthy)
            throws IOException {
        failIf(Fault.CREATE);
        return new Stream(healthy.createTaskOwnedStateStream());
    }

    private void failIf(Fault one) throws IOException {
        if (fault == one) {
            throw new IOException(MESSAGE);
        }
    }

    /** Whether an injected fault is the cause of a failure. */
    static boolean isCauseOf(Throwable failure) {
        return ExceptionUtils.findThrowableWithMessage(failure, MESSAGE).isPresent();
    }

    CheckpointStorageAccess access() {
        return access;
    }

    void set(Fault what) {
        fault = what;
    }

    private final class Stream extends CheckpointStateOutputStream {

        private final CheckpointStateOutputStream healthy;

        private Stream(CheckpointStateOutputStream healthy) {
            this.healthy = healthy;
        }

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            if (fault == Fault.FINISH) {
                // As Flink's streams do, which delete their file when they cannot be finished.
                healthy.close();
            }
            failIf(Fault.FINISH);
            return healthy.closeAndGetHandle();
        }

        @Override
        public void write(int oneByte) throws IOException {
            failIf(Fault.WRITE);
            healthy.write(oneByte);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            failIf(Fault.WRITE);
            healthy.write(bytes, offset, length);
        }

        @Override
        public long getPos() throws IOException {
            return healthy.getPos();
        }

        @Override
        public void flush() throws IOException {
            healthy.flush();
        }

        @Override
        public void sync() throws IOException {
            healthy.sync();
        }

        @Override
        public void close() throws IOException {
            healthy.close();
        }
    }
}
