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

package dev.dstl.benchmarks.log;

import dev.dstl.log.DstlStorageFactory;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.api.RecordKind;
import java.util.Arrays;
import org.apache.flink.changelog.fs.FsStateChangelogStorageFactory;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageFactory;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * The changelog storages that are compared. Created by their factories directly, since both have
 * the same identifier.
 */
public enum MeasuredLog {
    /** DSTL. */
    DSTL {
        @Override
        StateChangelogStorageFactory factory() {
            return new DstlStorageFactory();
        }

        @Override
        LogAppender appender(StateChangelogWriter<?> writer) {
            ChangelogWriter recordWriter = (ChangelogWriter) writer;
            return (keyGroup, record) ->
                    recordWriter.append(
                            RecordKind.PUT,
                            keyGroup,
                            0,
                            record,
                            RecordSource.RECORD_KEY_BYTES,
                            RecordSource.RECORD_KEY_BYTES,
                            record.length);
        }
    },

    /** Flink's built-in changelog. It retains the given array, so each record needs its own. */
    BUILT_IN {
        @Override
        StateChangelogStorageFactory factory() {
            return new FsStateChangelogStorageFactory();
        }

        @Override
        LogAppender appender(StateChangelogWriter<?> writer) {
            return (keyGroup, record) ->
                    writer.append(keyGroup, Arrays.copyOf(record, record.length));
        }
    };

    abstract StateChangelogStorageFactory factory();

    /** Appends as the changelog state backend of this storage must. */
    abstract LogAppender appender(StateChangelogWriter<?> writer);
}
