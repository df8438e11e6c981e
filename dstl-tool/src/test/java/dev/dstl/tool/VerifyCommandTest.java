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

import dev.dstl.tool.fixture.ToolRun;
import dev.dstl.tool.fixture.WrittenCheckpoint;
import dev.dstl.tool.fixture.WrittenLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.Test;

class VerifyCommandTest extends ToolTest {

    @Test
    void anIntactCheckpoint_isFine() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, written);

            ToolRun run = dstl("verify", checkpoint).isFine();

            assertThat(run.out()).contains("every segment is intact");
            assertThat(
                            dstl("verify", checkpoint, "--json")
                                    .isFine()
                                    .json()
                                    .get("intact")
                                    .asBoolean())
                    .isTrue();
        }
    }

    @Test
    void aCheckpointRightAfterAMaterialization_hasNoLogAndIsFine() throws Exception {
        dstl("verify", WrittenCheckpoint.of(checkpoints(), 7)).isFine();
    }

    @Test
    void aTailThatTravelsInTheCheckpoint_isVerified() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl inline = InspectCommandTest.inline(log.writeSome());

            dstl("verify", WrittenCheckpoint.of(checkpoints(), 7, inline)).isFine();
        }
    }

    @Test
    void aMissingSegment_isNamed() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, written);
            Files.delete(fileOf(written));

            ToolRun run = dstl("verify", checkpoint);

            run.fails(1, "1 of 1 segments", fileOf(written).toString(), "there is no such file");
        }
    }

    /** Every bit of the file matters, also in frames of other tasks and in the directory. */
    @Test
    void aFlippedBitAnywhere_isFound() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, written);
            byte[] intact = Files.readAllBytes(fileOf(written));
            for (int at = 0; at < intact.length; at += 31) {
                byte[] damaged = intact.clone();
                damaged[at] ^= 4;
                Files.write(fileOf(written), damaged);

                dstl("verify", checkpoint).fails(1, "missing or damaged", "at byte ");
            }
        }
    }

    @Test
    void aTruncatedSegment_isFound() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, written);
            byte[] intact = Files.readAllBytes(fileOf(written));
            Files.write(fileOf(written), Arrays.copyOf(intact, intact.length - 1));

            dstl("verify", checkpoint).fails(1, "missing or damaged");
        }
    }

    @Test
    void anIntactSegmentInThePlaceOfAnother_isFound() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            log.writeSome();
            ChangelogStateHandleStreamImpl written = log.writeSome();
            assertThat(written.getHandlesAndOffsets()).hasSize(2);
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, written);
            dstl("verify", checkpoint).isFine();
            List<Path> files = new ArrayList<>();
            for (Tuple2<StreamStateHandle, Long> position : written.getHandlesAndOffsets()) {
                files.add(Path.of(((FileStateHandle) position.f0).getFilePath().toUri().getPath()));
            }
            Files.copy(files.get(0), files.get(1), StandardCopyOption.REPLACE_EXISTING);

            dstl("verify", checkpoint)
                    .fails(
                            1,
                            "1 of 2 segments",
                            files.get(1).toString(),
                            "at byte 12 expected a frame of changelog ",
                            " after sequence number ",
                            "found one of changelog ");
        }
    }

    @Test
    void anOffsetThatLeadsToNoFrame_isFound() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            List<Tuple2<StreamStateHandle, Long>> astray = new ArrayList<>();
            written.getHandlesAndOffsets()
                    .forEach(position -> astray.add(Tuple2.of(position.f0, position.f1 + 1)));
            Path checkpoint =
                    WrittenCheckpoint.of(
                            checkpoints(),
                            7,
                            new ChangelogStateHandleStreamImpl(
                                    astray, written.getKeyGroupRange(), 1, 1, "dstl"));

            dstl("verify", checkpoint).fails(1, "no frame begins at byte 13");
        }
    }

    @Test
    void aCheckpointThatStillNeedsALogOfFlink_cannotBeVerified() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            ChangelogStateHandleStreamImpl written = log.writeSome();
            ChangelogStateHandleStreamImpl builtIn =
                    new ChangelogStateHandleStreamImpl(
                            written.getHandlesAndOffsets(),
                            written.getKeyGroupRange(),
                            1,
                            1,
                            "filesystem");
            Path checkpoint = WrittenCheckpoint.of(checkpoints(), 7, builtIn, written);

            dstl("verify", checkpoint).fails(1, "storage 'filesystem'", "cannot verify");
            assertThat(dstl("inspect", checkpoint).isFine().out())
                    .contains("not read    changelogs of the storage 'filesystem'");
        }
    }

    @Test
    void aSegmentInsteadOfACheckpoint_isRefused() throws Exception {
        try (WrittenLog log = new WrittenLog(basePath())) {
            dstl("verify", fileOf(log.writeSome())).fails(1, "is not a checkpoint", "chk-N");
        }
    }

    @Test
    void aCheckpointWithoutChangelog_isRefused() throws Exception {
        dstl("verify", WrittenCheckpoint.withoutChangelog(checkpoints(), 7))
                .fails(1, "has no changelog");
    }
}
