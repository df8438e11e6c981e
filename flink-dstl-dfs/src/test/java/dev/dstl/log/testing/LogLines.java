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

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/** Captures the log lines of DSTL at INFO and above while open. */
public final class LogLines implements AutoCloseable {

    private final LoggerConfig root;
    private final Lines lines;

    /** Starts capturing. */
    public LogLines() {
        this("dev.dstl.");
    }

    /**
     * Begins to listen.
     *
     * @param loggers how their names begin
     */
    public LogLines(String loggers) {
        lines = new Lines(loggers);
        root = ((LoggerContext) LogManager.getContext(false)).getConfiguration().getRootLogger();
        lines.start();
        root.addAppender(lines, Level.INFO, null);
    }

    /** Returns level and text of every line so far that contains a text. */
    public List<String> containing(String text) {
        synchronized (lines) {
            return lines.seen.stream()
                    .filter(line -> line.contains(text))
                    .collect(Collectors.toList());
        }
    }

    @Override
    public void close() {
        root.removeAppender(lines.getName());
    }

    private static final class Lines extends AbstractAppender {
        private final List<String> seen = new ArrayList<>();
        private final String loggers;

        private Lines(String loggers) {
            super("lines of a test of " + loggers, null, null, true, Property.EMPTY_ARRAY);
            this.loggers = loggers;
        }

        @Override
        public synchronized void append(LogEvent event) {
            if (event.getLoggerName().startsWith(loggers)) {
                seen.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
            }
        }
    }
}
