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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The part of the soak that every build runs; {@link SoakCheck} runs more. */
class DisturbedJobITCase {

    @TempDir private Path directory;

    @Test
    void killsOfEachProcess_andAnotherParallelism_loseAndRepeatNothing() throws Exception {
        SoakRound.brief(Long.getLong("soak.seed", 4), directory).run(directory);
    }
}
