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

package dev.dstl.changelog.delegate;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes records to a delegate as bytes and in batches, while nothing else writes to it. Must be
 * closed before any other use of the delegate. Belongs to the task thread; the delegate stays the
 * caller's.
 */
public interface BulkLoad extends AutoCloseable {

    /**
     * Begins to load {@code delegate}.
     *
     * @return null if entries have to be written through its states
     */
    @Nullable
    static BulkLoad of(AbstractKeyedStateBackend<?> delegate) {
        if (!RocksDbInternals.isRocksDb(delegate)) {
            return null;
        }
        try {
            return new RocksDbBulkLoad(delegate);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            Logger log = LoggerFactory.getLogger(BulkLoad.class);
            log.info(
                    "Changelogs are replayed entry by entry, because this version of {} is"
                            + " not known",
                    delegate.getClass().getName(),
                    e);
            return null;
        }
    }

    /**
     * Where the entries of a state go, which must have been registered.
     *
     * @param namespaceSerializer of the state
     * @return null if the delegate's keys are not the bytes of record keys
     */
    @Nullable
    BulkTarget state(String name, TypeSerializer<?> namespaceSerializer);

    /**
     * Where the elements of a queue go, which must have been registered. Queue objects that exist
     * need not notice, so that they must be created again.
     *
     * @return null if the delegate does not hold queues as it holds states
     */
    @Nullable
    BulkTarget queue(String name);

    /** Goes back to what is right for a job that runs. Everything must have been flushed. */
    @Override
    void close() throws IOException;
}
