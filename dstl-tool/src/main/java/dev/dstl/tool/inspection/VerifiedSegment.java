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

package dev.dstl.tool.inspection;

import dev.dstl.log.api.LogRecord;
import dev.dstl.log.segment.CorruptSegmentException;
import dev.dstl.log.segment.FrameCursor;
import dev.dstl.log.segment.FrameHeader;
import dev.dstl.log.segment.FrameOrder;
import dev.dstl.log.segment.FrameOrigin;
import dev.dstl.log.segment.SegmentInspection;
import dev.dstl.log.segment.SegmentReader;
import dev.dstl.tool.checkpoint.SubtaskLog;
import dev.dstl.tool.files.Damage;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** A segment of a checkpoint, after it was read completely. */
final class VerifiedSegment {

    private static final KeyGroupRange ALL_KEY_GROUPS = KeyGroupRange.of(0, Integer.MAX_VALUE - 1);

    private final String name;
    private final int neededFrames;

    /** The needed frames by offset. */
    private final Map<Long, FrameOrigin> frames = new HashMap<>();

    private long bytes;
    @Nullable private String problem;

    private VerifiedSegment(String name, int neededFrames) {
        this.name = name;
        this.neededFrames = neededFrames;
    }

    static VerifiedSegment verify(StreamStateHandle segment, Set<Long> offsets) {
        VerifiedSegment verified = new VerifiedSegment(SubtaskLog.nameOf(segment), offsets.size());
        try {
            if (segment instanceof FileStateHandle) {
                verified.readFile(((FileStateHandle) segment).getFilePath(), offsets);
            } else {
                verified.readFrames(segment, offsets);
            }
        } catch (IOException | RuntimeException e) {
            verified.problem = Damage.text(e);
        }
        return verified;
    }

    private void readFile(Path file, Set<Long> offsets) throws IOException {
        FileSystem fileSystem = FileSystem.getUnguardedFileSystem(file.toUri());
        long length = fileSystem.getFileStatus(file).getLen();
        for (FrameHeader frame :
                SegmentInspection.inspect(file.toString(), fileSystem.open(file), length)
                        .frames()) {
            if (offsets.contains(frame.offset())) {
                frames.put(frame.offset(), frame.origin());
            }
        }
        bytes = length;
        Set<Long> astray = new TreeSet<>(offsets);
        astray.removeAll(frames.keySet());
        if (!astray.isEmpty()) {
            problem = "no frame begins at byte " + astray.iterator().next();
        }
    }

    /** Reads frames only: an inline segment of a checkpoint need not be complete. */
    private void readFrames(StreamStateHandle segment, Set<Long> offsets) throws IOException {
        LogRecord record = new LogRecord();
        try (SegmentReader reader = SegmentReader.open(segment);
                FrameCursor cursor = new FrameCursor()) {
            for (long offset : offsets) {
                FrameHeader frame = reader.frameAt(offset);
                cursor.start(reader, frame, ALL_KEY_GROUPS);
                while (cursor.next(record)) {
                    // Reading verifies.
                    continue;
                }
                bytes += frame.length();
                frames.put(offset, frame.origin());
            }
        }
    }

    /**
     * Verifies that a frame is the next one of a changelog. Does nothing if the segment is damaged.
     */
    void verifyPlace(long offset, FrameOrder order) {
        FrameOrigin frame = frames.get(offset);
        if (problem == null && frame != null) {
            String expected = order.next(frame);
            if (expected != null) {
                problem =
                        Damage.text(
                                CorruptSegmentException.damaged(
                                        name, offset, expected, frame.toString()));
            }
        }
    }

    String name() {
        return name;
    }

    long neededFrames() {
        return neededFrames;
    }

    long bytes() {
        return bytes;
    }

    Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("segment", name);
        json.put("frames", neededFrames);
        json.put("bytes", bytes);
        json.put("intact", problem == null);
        json.put("problem", problem);
        return json;
    }
}
