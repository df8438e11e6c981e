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

package dev.dstl.log.segment;

import dev.dstl.log.api.RestoredFiles;
import java.util.concurrent.atomic.AtomicReference;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** Opens files of a base as the segments of a changelog are opened. Thread-safe. */
public final class RetriedFiles implements RestoredFiles {

    private final AnswerTimes answers = new AnswerTimes();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final Runnable whenRetried;

    /**
     * Creates an object without open files.
     *
     * @param whenRetried called before each further try, on the reading thread
     */
    public RetriedFiles(Runnable whenRetried) {
        this.whenRetried = whenRetried;
    }

    @Override
    public FSDataInputStream open(FileStateHandle file) {
        return new RetriedStream(file, ReadSession.ofRestore(answers, whenRetried), failure);
    }

    @Nullable
    @Override
    public Exception failure() {
        return failure.get();
    }
}
