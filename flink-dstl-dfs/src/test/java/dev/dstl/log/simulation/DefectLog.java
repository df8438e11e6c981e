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

package dev.dstl.log.simulation;

import dev.dstl.log.simulation.schedule.Fiber;
import javax.annotation.Nullable;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/**
 * Captures the log output of production code during simulations. Warnings are expected in large
 * numbers and are not formatted; an error is a defect.
 */
final class DefectLog extends AbstractAppender implements AutoCloseable {

    private static final String PACKAGE = "dev.dstl.log";
    private static final String FLINK = "org.apache.flink.runtime.state";
    private static final ThreadLocal<Watchers> WATCHERS = new ThreadLocal<>();

    private DefectLog() {
        super("defects", null, null, true, Property.EMPTY_ARRAY);
    }

    /** Starts capturing; ends with close. */
    static DefectLog open() {
        DefectLog appender = new DefectLog();
        appender.start();
        LoggerContext context = context();
        LoggerConfig production = new LoggerConfig(PACKAGE, Level.ERROR, false);
        production.addAppender(appender, Level.ERROR, null);
        context.getConfiguration().addLogger(PACKAGE, production);
        context.getConfiguration().addLogger(FLINK, new LoggerConfig(FLINK, Level.WARN, true));
        context.updateLoggers();
        return appender;
    }

    private static LoggerContext context() {
        return (LoggerContext) LogManager.getContext(false);
    }

    /** Sets the receiver of errors that the calling thread logs. */
    void watch(@Nullable Watchers watchers) {
        WATCHERS.set(watchers);
    }

    @Override
    public void append(LogEvent event) {
        AssertionError defect =
                new AssertionError(event.getMessage().getFormattedMessage(), event.getThrown());
        Watchers watchers = WATCHERS.get();
        if (watchers != null) {
            watchers.failed(defect);
        } else if (!Fiber.report(defect)) {
            throw defect;
        }
    }

    @Override
    public void close() {
        LoggerContext context = context();
        context.getConfiguration().removeLogger(PACKAGE);
        context.getConfiguration().removeLogger(FLINK);
        context.updateLoggers();
        stop();
    }
}
