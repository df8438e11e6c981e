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

package dev.dstl.log.api;

import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * A failure of a store, as text. Exceptions of file systems often come from the class loader of a
 * plugin, which other processes do not have: at the JobManager, an exception with such a cause
 * arrives as text only, and Flink no longer recognizes its class. So every exception that leaves
 * the changelog storage carries class names, messages and stack trace of its cause as text.
 */
public final class StoreException extends IOException {

    private static final long serialVersionUID = 1L;

    private static final int LONGEST_CHAIN = 10;

    private StoreException(String message, StackTraceElement[] stackTrace) {
        super(message);
        setStackTrace(stackTrace);
    }

    /**
     * Creates an exception with the message and stack trace of {@code cause}, but without {@code
     * cause} itself.
     */
    public static StoreException of(String message, Throwable cause) {
        return new StoreException(message, cause.getStackTrace());
    }

    /** Returns classes and messages of an exception and its causes, without repetitions. */
    public static String describe(Throwable failure) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure;
                cause != null && seen.size() < LONGEST_CHAIN && seen.add(cause);
                cause = cause.getCause()) {
            String message = cause.getMessage();
            if (text.length() > 0 && (message == null || text.indexOf(message) >= 0)) {
                continue;
            }
            text.append(text.length() == 0 ? "" : ", caused by ")
                    .append(cause.getClass().getSimpleName())
                    .append(message == null ? "" : ": " + message);
        }
        return text.toString();
    }
}
