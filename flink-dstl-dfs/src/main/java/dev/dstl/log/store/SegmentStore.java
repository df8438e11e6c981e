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
 * Puts segments where every TaskManager and the JobManager can read them. Thread safe; calls block
 * for as long as the store takes, and are therefore never made by a task.
 */
public interface SegmentStore {

    /**
     * Decides where a segment will lie. Called once per name, as the answer may contain a random
     * part.
     *
     * @return absolute, with scheme
     * @throws IOException if the name cannot be placed
     */
    Path locate(SegmentName name) throws IOException;

    /**
     * Writes a segment. It is durable and readable by everybody if, and only if, this returns
     * normally.
     *
     * @param file from {@link #locate}; what is there already is replaced
     * @throws IOException if the bytes are not known to be durable; a file may or may not exist
     *     then, with any part of the bytes
     */
    void write(Path file, SegmentContent content) throws IOException;

    /**
     * Deletes a file. A file that does not exist is no failure.
     *
     * @throws IOException if the file may still exist
     */
    void delete(Path file) throws IOException;

    /**
     * Makes one small request that changes nothing and sends no bytes, to learn when the store
     * answers at all.
     *
     * @throws IOException if the store refuses it, which is an answer as well, or cannot be reached
     */
    void ping() throws IOException;
}
