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

package dev.dstl.endtoend.objectstore;

import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.endtoend.objectstore.job.SummingJob;
import dev.dstl.endtoend.objectstore.server.PluginFileSystems;
import dev.dstl.log.api.ChangelogWriter;
import dev.dstl.log.segment.CorruptSegmentException;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the changelog storage and end-to-end jobs require of any store. */
@Timeout(300)
abstract class ObjectStoreContract {

    private final String name = UUID.randomUUID().toString();

    /** Configuration with which Flink reaches the store. */
    abstract Configuration configuration();

    /** The root of the store. */
    abstract Path store();

    @BeforeEach
    void useStore() throws IOException {
        PluginFileSystems.use(configuration());
    }

    @AfterEach
    void useNoStore() {
        PluginFileSystems.reset();
    }

    /** A directory that no other test uses. */
    final Path root() {
        return new Path(store(), name);
    }

    @Test
    void whatWritersWrote_isReadBack_fromOneSegmentForAll() throws Exception {
        try (LogOnStore log = new LogOnStore(root())) {
            List<ChangelogWriter> writers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                writers.add(log.writer());
            }
            List<ChangelogStateHandleStreamImpl> handles = new ArrayList<>();
            for (int i = 0; i < writers.size(); i++) {
                for (int round = 0; round < 4; round++) {
                    append(writers.get(i), "writer " + i + " round " + round);
                    SequenceNumber ignored = writers.get(i).nextSequenceNumber();
                }
            }
            for (ChangelogWriter writer : writers) {
                handles.add(handleOf(writer.persist(writer.initialSequenceNumber(), 1)));
            }
            for (int i = 0; i < writers.size(); i++) {
                String prefix = "writer " + i + " round ";
                assertThat(texts(handles.get(i)))
                        .containsExactly(prefix + 0, prefix + 1, prefix + 2, prefix + 3);
            }
            assertThat(log.files()).containsAll(LogOnStore.named(handles));
        }
    }

    @Test
    void largeSegment_isReadBackWhole() throws Exception {
        byte[] large = new byte[6 << 20];
        new java.util.Random(1).nextBytes(large);
        try (LogOnStore log = new LogOnStore(root())) {
            ChangelogWriter writer = log.writer();
            writer.append(1, large);
            writer.append(2, "after it".getBytes(UTF_8));
            ChangelogStateHandleStreamImpl handle = persist(writer);
            assertThat(texts(handle))
                    .hasSize(2)
                    .satisfies(
                            texts ->
                                    assertThat(texts.get(0).equals(new String(large, UTF_8)))
                                            .as("the large record is what it was")
                                            .isTrue())
                    .last()
                    .isEqualTo("after it");
        }
    }

    @Test
    void segmentThatNoCheckpointContains_isDeletedWhenTruncated() throws Exception {
        Configuration eager = new Configuration();
        eager.setString("state.changelog.dstl.dfs.preemptive-persist-threshold", "1 b");
        try (LogOnStore log = new LogOnStore(root(), eager)) {
            ChangelogWriter writer = log.writer();
            append(writer, "uploaded before any checkpoint asked");
            SequenceNumber next = writer.nextSequenceNumber();
            CommonTestUtils.waitUntilCondition(() -> log.files().size() == 1, 20);
            writer.truncate(next);
            CommonTestUtils.waitUntilCondition(() -> log.files().isEmpty(), 20);
        }
    }

    @Test
    void segmentOfACheckpoint_isLeftToTheCheckpoint_whichCanDeleteIt() throws Exception {
        ChangelogStateHandleStreamImpl handle;
        try (LogOnStore log = new LogOnStore(root())) {
            ChangelogWriter writer = log.writer();
            append(writer, "kept");
            handle = persist(writer);
            writer.truncate(writer.nextSequenceNumber());
            writer.close();
        }
        assertThat(texts(handle)).containsExactly("kept");
        handle.getHandlesAndOffsets().get(0).f0.discardState();
        Path file = LogOnStore.named(List.of(handle)).iterator().next();
        assertThat(file.getFileSystem().exists(file)).isFalse();
    }

    @Test
    void missingSegment_isSaidToBeGone_byName() throws Exception {
        ChangelogStateHandleStreamImpl handle = written("lost");
        Path file = LogOnStore.named(List.of(handle)).iterator().next();
        assertThat(file.getFileSystem().delete(file, false)).isTrue();
        assertThatThrownBy(() -> texts(handle))
                .satisfies(
                        failure ->
                                assertThat(ioException(failure))
                                        .isInstanceOf(FileNotFoundException.class)
                                        .hasMessageContaining("Segment " + file + " is gone")
                                        .hasMessageContaining(
                                                "restore from another checkpoint or savepoint"));
    }

    @Test
    void truncatedSegment_isCorrupt_namingFileAndOffset() throws Exception {
        ChangelogStateHandleStreamImpl handle = written("cut off");
        Path file = LogOnStore.named(List.of(handle)).iterator().next();
        long offset = handle.getHandlesAndOffsets().get(0).f1;
        replace(file, Arrays.copyOf(read(file), (int) offset + 10));
        assertThatThrownBy(() -> texts(handle))
                .satisfies(
                        failure ->
                                assertThat(ioException(failure))
                                        .isInstanceOf(CorruptSegmentException.class)
                                        .hasMessageContaining(file.toString())
                                        .hasMessageContaining(
                                                "the end of the file after 10 bytes"));
    }

    @Test
    void segmentThatEndsBeforeTheFrame_isCorrupt() throws Exception {
        ChangelogStateHandleStreamImpl handle = written("cut off early");
        Path file = LogOnStore.named(List.of(handle)).iterator().next();
        replace(file, Arrays.copyOf(read(file), 3));
        assertThatThrownBy(() -> texts(handle))
                .satisfies(
                        failure ->
                                assertThat(ioException(failure))
                                        .isInstanceOf(CorruptSegmentException.class)
                                        .hasMessageContaining(file.toString()));
    }

    @Test
    void jobThatFailsOnce_countsEveryRecordOnce() throws Exception {
        assertThat(new SummingJob("dstl", root()).run()).isEqualTo(SummingJob.expected());
        assertThat(SummingJob.hasFailed()).isTrue();
    }

    private ChangelogStateHandleStreamImpl written(String text) throws Exception {
        try (LogOnStore log = new LogOnStore(root())) {
            ChangelogWriter writer = log.writer();
            append(writer, text);
            return persist(writer);
        }
    }

    static void append(ChangelogWriter writer, String text) throws IOException {
        writer.append(1, text.getBytes(UTF_8));
    }

    static ChangelogStateHandleStreamImpl persist(ChangelogWriter writer) throws Exception {
        return handleOf(writer.persist(writer.initialSequenceNumber(), 1));
    }

    private static Throwable ioException(Throwable failure) {
        Throwable cause = failure;
        while (!(cause instanceof IOException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static byte[] read(Path file) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (FSDataInputStream in = file.getFileSystem().open(file)) {
            IOUtils.copyBytes(in, bytes, false);
        }
        return bytes.toByteArray();
    }

    private static void replace(Path file, byte[] bytes) throws IOException {
        try (FSDataOutputStream out = file.getFileSystem().create(file, WriteMode.OVERWRITE)) {
            out.write(bytes);
        }
    }
}
