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

package dev.dstl.log.store;

import java.io.IOException;
import org.apache.flink.core.fs.Path;

/**
 * Stores segments where every TaskManager and the JobManager can read them. Thread-safe. Calls
 * block as long as the store takes, and are therefore never made on a task thread.
 */
public interface SegmentStore {

    /**
     * Returns the location of a segment. Called once per name, since the location may contain a
     * random part.
     *
     * @return absolute, with scheme
     * @throws IOException if no location can be determined
     */
    Path locate(SegmentName name) throws IOException;

    /**
     * Writes a segment. It is durable and readable by all processes if and only if this method
     * returns normally.
     *
     * @param file from {@link #locate}; an existing file is replaced
     * @throws IOException if the segment may not be durable; a file with any part of the bytes may
     *     exist then
     */
    void write(Path file, SegmentContent content) throws IOException;

    /**
     * Deletes a file. Succeeds if the file does not exist.
     *
     * @throws IOException if the file may still exist
     */
    void delete(Path file) throws IOException;

    /**
     * Sends one small request that changes nothing, to learn whether the store answers.
     *
     * @throws IOException if the store rejects the request, which is an answer as well, or cannot
     *     be reached
     */
    void ping() throws IOException;
}
