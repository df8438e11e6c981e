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

package dev.dstl.changelog.restore;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordCursor;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.function.IntConsumer;

/**
 * Ends a replay soon after the task was cancelled: reading a changelog from memory never blocks, so
 * an interrupt would go unnoticed. Owns the underlying cursor.
 */
final class InterruptibleCursor implements RecordCursor {

    private static final int RECORDS_BETWEEN_CHECKS = 1024;

    private final RecordCursor cursor;
    private final IntConsumer passed;
    private int untilCheck;

    InterruptibleCursor(RecordCursor cursor) {
        this(cursor, records -> {});
    }

    /**
     * Creates a cursor.
     *
     * @param passed called periodically with the number of records read since the last call
     */
    InterruptibleCursor(RecordCursor cursor, IntConsumer passed) {
        this.cursor = cursor;
        this.passed = passed;
    }

    @Override
    public boolean next(LogRecord record) throws IOException {
        if (untilCheck == 0) {
            untilCheck = RECORDS_BETWEEN_CHECKS;
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("The task was cancelled during replay");
            }
        }
        if (!cursor.next(record)) {
            return false;
        }
        if (--untilCheck == 0) {
            passed.accept(RECORDS_BETWEEN_CHECKS);
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        if (untilCheck > 0) {
            passed.accept(RECORDS_BETWEEN_CHECKS - untilCheck);
            untilCheck = 0;
        }
        cursor.close();
    }
}
