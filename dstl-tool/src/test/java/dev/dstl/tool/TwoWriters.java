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

package dev.dstl.tool;

import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;

/**
 * One writer whose segment a checkpoint refers to, and one that died before its first checkpoint.
 */
final class TwoWriters {

    private static final Duration OLD = Duration.ofHours(2);

    /** The checkpoint, number 7. */
    final Path checkpoint;

    /** The segment that the checkpoint refers to. */
    final Path needed;

    /** The segment that no checkpoint refers to, of the same job. */
    final Path orphan;

    private TwoWriters(Path checkpoint, Path needed, Path orphan) {
        this.checkpoint = checkpoint;
        this.needed = needed;
        this.orphan = orphan;
    }

    static TwoWriters write(Path basePath, Path checkpoints) throws Exception {
        try (WrittenLog alive = new WrittenLog(basePath);
                WrittenLog dead = new WrittenLog(basePath)) {
            ChangelogStateHandleStreamImpl log = alive.writeSome();
            Path needed = ToolTest.fileOf(log);
            Path orphan = intoJobOf(needed, ToolTest.fileOf(dead.writeSome()));
            makeOld(needed);
            makeOld(orphan);
            return new TwoWriters(WrittenCheckpoint.of(checkpoints, 7, log), needed, orphan);
        }
    }

    /** Moves the segment of another writer to the directory of a job. */
    private static Path intoJobOf(Path ofJob, Path segment) throws Exception {
        Path writer = segment.getParent();
        Path moved = ofJob.getParent().getParent().resolve(writer.getFileName());
        Files.move(writer, moved);
        return moved.resolve(segment.getFileName());
    }

    /** Makes a file older than the segments of recent writers. */
    static void makeOld(Path file) throws Exception {
        age(file, OLD);
    }

    /** Gives a file an age. */
    static void age(Path file, Duration age) throws Exception {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
    }
}
