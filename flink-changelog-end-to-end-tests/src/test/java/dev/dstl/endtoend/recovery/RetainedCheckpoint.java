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

package dev.dstl.endtoend.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.nio.file.Paths;
import javax.annotation.Nullable;
import org.apache.flink.util.FileUtils;

/** The newest checkpoint of a cancelled job, and the location of all other files of that job. */
final class RetainedCheckpoint {

    private final String path;
    @Nullable private final Path log;

    /**
     * @param log null if the job had none
     */
    RetainedCheckpoint(String path, @Nullable Path log) {
        this.path = path;
        this.log = log;
    }

    String path() {
        return path;
    }

    /** Deletes the checkpoint, shared files and the changelog, all of which must exist. */
    void deleteAllOfItsJob() throws IOException {
        assertThat(ofJob()).isDirectory();
        if (log != null) {
            assertThat(log).isDirectory();
        }
        deleteWhatThereIsOfItsJob();
    }

    /** The same for a job that may have ended before it wrote a segment. */
    void deleteWhatThereIsOfItsJob() throws IOException {
        FileUtils.deleteDirectory(ofJob().toFile());
        if (log != null) {
            FileUtils.deleteDirectory(log.toFile());
        }
    }

    private Path ofJob() {
        return Paths.get(URI.create(path)).getParent();
    }
}
