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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.execution.RestoreMode;

/**
 * The retained checkpoints that the jobs of a run have restored, one after the other, and which of
 * them still have all of their files.
 */
final class RestoredCheckpoints {

    private final List<Path> whole = new ArrayList<>();
    private final List<Path> claimed = new ArrayList<>();
    private final List<Path> sharedWithTheNext = new ArrayList<>();

    /** Adds a checkpoint that the next job restores. */
    @SuppressWarnings("deprecation") // Flink advises against LEGACY, and supports it.
    void add(Path checkpoint, RestoreMode mode) {
        switch (mode) {
            case LEGACY:
                whole.add(checkpoint);
                sharedWithTheNext.add(checkpoint);
                break;
            case CLAIM:
                claimed.add(checkpoint);
                claimed.addAll(sharedWithTheNext);
                whole.removeAll(claimed);
                sharedWithTheNext.clear();
                break;
            default:
                sharedWithTheNext.clear();
        }
    }

    /** Adds a savepoint that the next job restores: it shares nothing with checkpoints. */
    void addSavepoint() {
        sharedWithTheNext.clear();
    }

    /** Returns the checkpoints that neither Flink nor the run deletes, nor any file of theirs. */
    List<Path> whole() {
        return whole;
    }

    /**
     * Returns the checkpoints whose files a job has claimed, with their own metadata or with that
     * of a later checkpoint that names them, too. Flink keeps a checkpoint that was claimed until
     * none of its files is needed. A job that is cancelled before leaves it behind, and the job
     * that claims the files next deletes them without it.
     */
    List<Path> claimed() {
        return claimed;
    }
}
