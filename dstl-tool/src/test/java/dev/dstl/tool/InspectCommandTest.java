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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.GuardedFileSystem;
import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryChangelogStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;

class InspectCommandTest extends ToolTest {

    @Test
    void aSegment_isShownByFramesStatesAndKeyGroups() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path segment = fileOf(log.writeSome());

            ToolRun run = dstl("inspect", segment, "--json").isFine();

            JsonNode json = run.json();
            assertThat(json.get("segment").asText()).endsWith(segment.toString());
            assertThat(json.get("bytes").asLong()).isEqualTo(Files.size(segment));
            assertThat(json.get("intact").asBoolean()).isTrue();
            // 20 values and 40 map entries, and the registrations of two states
            assertThat(json.get("records").asInt()).isEqualTo(62);
            JsonNode frame = json.get("frames").get(0);
            assertThat(frame.get("offset").asInt()).isEqualTo(12);
            assertThat(frame.get("toKeyGroup").asInt()).isEqualTo(Delegate.KEY_GROUPS);
            assertThat(frame.get("records").asInt()).isEqualTo(62);
            assertThat(json.get("states").findValuesAsText("name"))
                    .containsExactly("greeting", "basket");
            assertThat(json.get("states").findValuesAsText("kind")).containsExactly("VALUE", "MAP");
            assertThat(json.get("states").findValuesAsText("records")).containsExactly("21", "41");
            int inKeyGroups = 0;
            for (JsonNode keyGroup : json.get("keyGroups")) {
                inKeyGroups += keyGroup.get("records").asInt();
            }
            assertThat(inKeyGroups).isEqualTo(60);
        }
    }

    @Test
    void aSegmentForPeople_namesTheFileTheStatesAndTheResult() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path segment = fileOf(log.writeSome());

            ToolRun run = dstl("inspect", segment).isFine();

            assertThat(run.out())
                    .contains(segment.toString())
                    .contains("frames: 1, records: 62")
                    .contains("checksums  all match")
                    .containsPattern("greeting +value +21 ")
                    .containsPattern("basket +map +41 ");
        }
    }

    @Test
    void moreRowsThanWanted_areCounted() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path segment = fileOf(log.writeSome());

            ToolRun run = dstl("inspect", segment, "--top", 1).isFine();

            assertThat(run.out())
                    .contains("greeting")
                    .doesNotContain("basket")
                    .contains("... and 1 more (--top)");
        }
    }

    @Test
    void aDamagedSegment_isShownAsFarAsItGoes_andIsAFailure() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path segment = fileOf(log.writeSome());
            byte[] bytes = Files.readAllBytes(segment);
            bytes[bytes.length - 100] ^= 1;
            Files.write(segment, bytes);

            ToolRun run = dstl("inspect", segment, "--json");

            run.fails(1, "Segment ", segment.toString(), "is damaged: at byte ", "CRC32C");
            assertThat(run.json().get("intact").asBoolean()).isFalse();
            assertThat(run.json().get("damage").asText()).contains("expected", "found");
        }
    }

    @Test
    void aFileThatIsNoSegment_isRefused() throws Exception {
        Path file = Files.writeString(directory.resolve("letter.txt"), "Dear log, how are you?");

        dstl("inspect", file).fails(1, file.toString(), "is not a DSTL segment", "44 65 61 72");
    }

    @Test
    void anEmptyFile_isRefused() throws Exception {
        Path file = Files.createFile(directory.resolve("empty"));

        dstl("inspect", file).fails(1, "is not a DSTL segment", "an empty file");
    }

    @Test
    void aCheckpoint_isShownBySubtasksStatesAndKeyGroups() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, log.writeSome());

            ToolRun run = dstl("inspect", checkpoint, "--json").isFine();

            JsonNode json = run.json();
            assertThat(json.get("checkpointId").asInt()).isEqualTo(7);
            assertThat(json.get("intact").asBoolean()).isTrue();
            assertThat(json.get("segments").asInt()).isEqualTo(1);
            assertThat(json.get("records").asInt()).isEqualTo(62);
            assertThat(json.get("changelogs").get(0).get("toKeyGroup").asInt())
                    .isEqualTo(Delegate.KEY_GROUPS);
            assertThat(json.get("states").findValuesAsText("name"))
                    .containsExactly("greeting", "basket");
            assertThat(json.get("states").get(0).get("operatorId").asText()).hasSize(32);
            assertThat(dstl("inspect", checkpoint).isFine().out())
                    .contains("id          7", "checksums   all match", "greeting");
        }
    }

    @Test
    void aMetadataFile_meansItsCheckpoint() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, log.writeSome());

            ToolRun run = dstl("inspect", checkpoint.resolve("_metadata")).isFine();

            assertThat(run.out()).contains("id          7");
        }
    }

    @Test
    void aCheckpointOfSomeKeyGroups_isShownAsARestoreWouldReadIt() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl half =
                    (ChangelogStateHandleStreamImpl)
                            log.writeSome().getIntersection(KeyGroupRange.of(0, 3));
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, half);

            JsonNode json = dstl("inspect", checkpoint, "--json").isFine().json();

            assertThat(json.get("keyGroups").findValuesAsText("keyGroup"))
                    .isNotEmpty()
                    .isSubsetOf("0", "1", "2", "3");
        }
    }

    @Test
    void aTailThatTravelsInTheCheckpoint_isShown() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, inline(log.writeSome()));
            segments().forEach(file -> assertThat(file.toFile().delete()).isTrue());

            JsonNode json = dstl("inspect", checkpoint, "--json").isFine().json();

            assertThat(json.get("records").asInt()).isEqualTo(62);
        }
    }

    static ChangelogStateHandleStreamImpl inline(ChangelogStateHandleStreamImpl log)
            throws Exception {
        List<Tuple2<StreamStateHandle, Long>> positions = new ArrayList<>();
        for (Tuple2<StreamStateHandle, Long> position : log.getHandlesAndOffsets()) {
            byte[] bytes = Files.readAllBytes(fileOf(log));
            positions.add(Tuple2.of(new ByteStreamStateHandle("tail", bytes), position.f1));
        }
        return new ChangelogStateHandleStreamImpl(
                positions, log.getKeyGroupRange(), 1, 1, log.getStorageIdentifier());
    }

    @Test
    void aCheckpointWithAMissingSegment_isAFailureThatNamesIt() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, written);
            Files.delete(fileOf(written));

            ToolRun run = dstl("inspect", checkpoint);

            run.fails(1, "1 of 1 changelogs", fileOf(written).toString(), "there is no such file");
        }
    }

    /** Clients of object stores throw exceptions that are not checked. */
    @Test
    void aSegmentWhoseStoreFailsUnexpectedly_isAFailureThatNamesIt() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            Path segment = fileOf(written);
            Path checkpoint =
                    WrittenCheckpoint.of(
                            checkpoints(),
                            7,
                            new ChangelogStateHandleStreamImpl(
                                    List.of(
                                            Tuple2.of(
                                                    new FileStateHandle(
                                                            new org.apache.flink.core.fs.Path(
                                                                    GuardedFileSystem.uri(segment)),
                                                            Files.size(segment)),
                                                    12L)),
                                    written.getKeyGroupRange(),
                                    1,
                                    1,
                                    "dstl"));
            GuardedFileSystem.guard(
                    (call, path) -> {
                        if (path.getPath().equals(segment.toString())) {
                            throw new IllegalStateException("Connection pool shut down");
                        }
                    });

            dstl("inspect", checkpoint)
                    .fails(1, "1 of 1 changelogs", segment.toString(), "Connection pool shut down");
        }
    }

    @Test
    void anEmptyDirectory_isRefused() {
        dstl("inspect", directory).fails(1, directory.toString(), "has no _metadata", "chk-N");
    }

    @Test
    void aMissingPath_isRefused() {
        dstl("inspect", directory.resolve("nowhere")).fails(1, "There is no", "nowhere");
    }

    @Test
    void aPathWithoutPermission_isRefused() throws Exception {
        Path file = Files.writeString(directory.resolve("secret.seg"), "secret");
        GuardedFileSystem.refuse(GuardedFileSystem.Call.OPEN, path -> true);

        dstl("inspect", GuardedFileSystem.uri(file))
                .fails(1, "secret.seg cannot be read: Access denied (Status Code: 403");
    }

    @Test
    void aCheckpointWithoutPermission_isRefused() throws Exception {
        Path checkpoint = WrittenCheckpoint.withoutChangelog(checkpoints(), 7);
        GuardedFileSystem.refuse(GuardedFileSystem.Call.OPEN, path -> true);

        dstl("inspect", GuardedFileSystem.uri(checkpoint))
                .fails(1, "chk-7/_metadata cannot be read: Access denied");
    }

    @Test
    void aCheckpointOfFlinksChangelog_isRefusedByTheNameOfItsStorage() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            ChangelogStateHandleStreamImpl builtIn =
                    new ChangelogStateHandleStreamImpl(
                            written.getHandlesAndOffsets(),
                            written.getKeyGroupRange(),
                            1,
                            1,
                            "filesystem");

            dstl("inspect", WrittenCheckpoint.of(checkpoints(), 7, builtIn))
                    .fails(1, "chk-7", "storage 'filesystem'", "not DSTL's");
        }
    }

    @Test
    void aCheckpointOfFlinksChangelogInMemory_isRefusedByTheNameOfItsStorage() throws Exception {
        InMemoryChangelogStateHandle memory =
                new InMemoryChangelogStateHandle(
                        new ArrayList<>(),
                        SequenceNumber.of(0),
                        SequenceNumber.of(1),
                        KeyGroupRange.of(0, Delegate.KEY_GROUPS - 1));

        dstl("inspect", WrittenCheckpoint.of(checkpoints(), 7, memory))
                .fails(1, "chk-7", "storage 'memory'");
    }

    @Test
    void aCheckpointWithoutChangelog_isRefused() throws Exception {
        dstl("inspect", WrittenCheckpoint.withoutChangelog(checkpoints(), 7))
                .fails(1, "chk-7", "has no changelog");
    }

    @Test
    void aDamagedMetadata_isRefused() throws Exception {
        Path checkpoint = WrittenCheckpoint.withoutChangelog(checkpoints(), 7);
        Files.writeString(checkpoint.resolve("_metadata"), "not a checkpoint");

        dstl("inspect", checkpoint).fails(1, "_metadata cannot be read: Unexpected magic number");
    }

    /** Metadata has no checksum, so some damage goes unnoticed; none may cause a stack trace. */
    @Test
    void anyDamageToTheMetadata_isRefusedInOneSentenceIfItIsNoticed() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path metadata =
                    WrittenCheckpoint.of(checkpoints(), 7, log.writeSome()).resolve("_metadata");
            byte[] intact = Files.readAllBytes(metadata);
            for (int at = 0; at < intact.length; at += 11) {
                byte[] damaged = intact.clone();
                damaged[at] ^= 0x55;
                Files.write(metadata, damaged);

                ToolRun run = dstl("inspect", metadata);

                assertThat(run.err().lines().count())
                        .as("byte %d: %s", at, run.err())
                        .isLessThan(2);
                assertThat(run.err()).doesNotContain("The tool failed");
            }
        }
    }

    @Test
    void aTruncatedMetadata_isRefused() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            Path metadata =
                    WrittenCheckpoint.of(checkpoints(), 7, log.writeSome()).resolve("_metadata");
            byte[] bytes = Files.readAllBytes(metadata);
            Files.write(metadata, Arrays.copyOf(bytes, bytes.length / 2));

            dstl("inspect", metadata)
                    .fails(1, "_metadata cannot be read: it is truncated or damaged");
        }
    }
}
