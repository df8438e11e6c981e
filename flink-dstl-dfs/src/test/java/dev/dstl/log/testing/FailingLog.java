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

package dev.dstl.log.testing;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.ErrorHandler;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/** A log that takes no errors while open, for lack of memory: logging them throws. */
public final class FailingLog implements AutoCloseable {

    private final LoggerConfig root;
    private final Refusal refusal = new Refusal();

    /** Begins to refuse the errors of the calling thread. */
    public FailingLog() {
        root = ((LoggerContext) LogManager.getContext(false)).getConfiguration().getRootLogger();
        refusal.start();
        root.addAppender(refusal, Level.ERROR, null);
    }

    /** Returns how many errors were refused. */
    public int refused() {
        return refusal.count;
    }

    @Override
    public void close() {
        root.removeAppender(refusal.getName());
    }

    private static final class Silence implements ErrorHandler {

        @Override
        public void error(String message) {}

        @Override
        public void error(String message, Throwable failure) {}

        @Override
        public void error(String message, LogEvent event, Throwable failure) {}
    }

    private static final class Refusal extends AbstractAppender {
        private final Thread refused = Thread.currentThread();
        private int count;

        private Refusal() {
            super("a log that takes no errors", null, null, false, Property.EMPTY_ARRAY);
            setHandler(new Silence());
        }

        @Override
        public void append(LogEvent event) {
            if (Thread.currentThread() == refused) {
                count++;
                throw new OutOfMemoryError("Java heap space");
            }
        }
    }
}
