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

package dev.dstl.log.execution;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs errors of code whose failure must not affect what follows. Logging takes memory, and the
 * error may be that there is none; so an error that cannot be logged is dropped. No method throws.
 * Thread-safe.
 */
public final class ErrorLog {

    private final Logger logger;

    /** Creates a log with the name of a class. */
    public ErrorLog(Class<?> source) {
        logger = LoggerFactory.getLogger(source);
    }

    /** Logs an error. */
    public void error(String message, Throwable failure) {
        try {
            logger.error(message, failure);
        } catch (Throwable noMemory) {
            return;
        }
    }

    /**
     * Logs an error.
     *
     * @param message with one placeholder, {@code {}}
     * @param subject takes the place of the placeholder
     */
    public void error(String message, Object subject, Throwable failure) {
        try {
            logger.error(message, subject, failure);
        } catch (Throwable noMemory) {
            return;
        }
    }
}
