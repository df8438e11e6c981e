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

package dev.dstl.benchmarks.cost;

import dev.dstl.log.store.SegmentName;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.flink.core.fs.Path;

/**
 * The files of a TaskManager that behaves like a simulated one: unique names in a bucket, as long
 * as those of DSTL and of Flink's built-in changelog.
 */
final class RenamedFiles {

    private static final Path BASE = new Path("s3://bucket/flink/changelog");
    private static final long CREATED_EPOCH_MILLIS = 1_763_640_000_000L;

    private final int taskManager;
    private final Path directory;
    private final Map<Path, Path> renamed = new HashMap<>();

    RenamedFiles(int taskManager) {
        this.taskManager = taskManager;
        this.directory =
                SegmentName.directory(
                        BASE,
                        DstlChangelogs.JOB_ID,
                        SegmentName.incarnation(
                                CREATED_EPOCH_MILLIS + taskManager,
                                new Random(taskManager).nextLong()));
    }

    /** Returns the name of a file, always the same object. */
    Path of(Path file) {
        return renamed.computeIfAbsent(file, this::rename);
    }

    private Path rename(Path file) {
        if (SegmentName.of(file).isPresent()) {
            return new Path(directory, file.getName());
        }
        String name = file.getName() + taskManager;
        return new Path(
                directory.getParent(),
                UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString());
    }
}
