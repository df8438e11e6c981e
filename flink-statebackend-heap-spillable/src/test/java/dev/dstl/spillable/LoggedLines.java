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

package dev.dstl.spillable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Captures what a class logs at one level while open. */
public final class LoggedLines implements AutoCloseable {

    private final Logger logger;
    private final Lines lines;

    public LoggedLines(Class<?> type, Level level) {
        logger = (Logger) LogManager.getLogger(type);
        lines = new Lines(level);
        lines.start();
        logger.addAppender(lines);
    }

    public List<String> lines() {
        return lines.messages;
    }

    @Override
    public void close() {
        logger.removeAppender(lines);
        lines.stop();
    }

    private static final class Lines extends AbstractAppender {

        private final Level level;
        private final List<String> messages = new CopyOnWriteArrayList<>();

        private Lines(Level level) {
            super("lines", null, null, true, Property.EMPTY_ARRAY);
            this.level = level;
        }

        @Override
        public void append(LogEvent event) {
            if (event.getLevel().equals(level)) {
                messages.add(event.getMessage().getFormattedMessage());
            }
        }
    }
}
