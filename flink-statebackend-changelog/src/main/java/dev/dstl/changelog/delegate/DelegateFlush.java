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
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flushes the memory of a delegate to its files before a snapshot, whose synchronous part would
 * otherwise flush on the task thread, and makes these files smaller.
 */
public interface DelegateFlush {

    /**
     * Returns a flush of the current states of {@code delegate}. Called on the task thread.
     *
     * @param backOff of this delegate, the same for all its flushes
     * @return null if snapshots of the delegate flush nothing, or little
     */
    @Nullable
    static DelegateFlush of(AbstractKeyedStateBackend<?> delegate, CompactionBackOff backOff) {
        if (!RocksDbInternals.isRocksDb(delegate)) {
            return null;
        }
        try {
            RocksDbFlush flush = new RocksDbFlush(delegate, backOff);
            return flush.isLittle() ? null : flush;
        } catch (ReflectiveOperationException | IOException | RuntimeException | LinkageError e) {
            Logger log = LoggerFactory.getLogger(DelegateFlush.class);
            log.debug("{} is flushed by its snapshots", delegate.getClass().getName(), e);
            return null;
        }
    }

    /**
     * Flushes while the task thread continues. Called once, on any other thread; blocks as long as
     * the disk needs.
     *
     * @throws IOException if the flush fails or the delegate was disposed of
     */
    void run() throws IOException;
}
