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

package dev.dstl.log.api;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * Opens files of a checkpoint that are not part of its changelog. They are read as the changelog
 * is: failed requests are retried, hanging ones abandoned, and slow ones replaced. Thread-safe.
 */
public interface RestoredFiles {

    /**
     * Opens a file. Nothing is requested before the first read, which fails if there is no such
     * file.
     *
     * @return to be closed by the caller; if another thread closes it, a pending read fails
     * @throws IOException if the file cannot be opened
     */
    FSDataInputStream open(FileStateHandle file) throws IOException;

    /**
     * Returns the first failure of a read. Readers that read files in parallel close the streams of
     * all others then, and may report what these throw.
     *
     * @return null if no read failed, other than by closing its stream, or if failures are not kept
     */
    @Nullable
    default Exception failure() {
        return null;
    }
}
