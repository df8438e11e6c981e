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
 * Writes records to a delegate as bytes and in batches, while nothing else writes to the delegate.
 * Must be closed before any other use of the delegate. Used by the task thread; the delegate stays
 * the caller's.
 */
public interface BulkLoad extends AutoCloseable {

    /**
     * Starts a bulk load of {@code delegate}.
     *
     * @return null if the delegate does not support it
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
     * Returns the target for the entries of a registered state.
     *
     * @param namespaceSerializer namespace serializer of the state
     * @return null if the delegate's keys do not have the bytes of record keys
     */
    @Nullable
    BulkTarget state(String name, TypeSerializer<?> namespaceSerializer);

    /**
     * Returns the target for the elements of a registered queue. Existing queue objects may not see
     * the changes, so they must be created again.
     *
     * @return null if the delegate does not store queues as it stores states
     */
    @Nullable
    BulkTarget queue(String name);

    /**
     * Ends the bulk load and restores the settings for normal operation. All targets must be
     * flushed before.
     */
    @Override
    void close() throws IOException;
}
