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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.StringUtils;
import org.junit.jupiter.api.Test;

class FrameListTest {

    private static final String DIRECTORY = "s3://bucket/changelog/0a/dstl/9c1f-1763640000000/";

    @Property(tries = 200)
    void isSentAndReadBackAsItWas(
            @ForAll @Size(max = 40) List<@IntRange(min = 0, max = 9) Integer> kinds)
            throws Exception {
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>();
        for (int i = 0; i < kinds.size(); i++) {
            frames.add(Tuple2.of(segment(kinds.get(i)), 1L << i));
        }
        List<Tuple2<StreamStateHandle, Long>> list = FrameList.of(frames);
        assertThat(list).isInstanceOf(FrameList.class).isEqualTo(frames);
        List<Tuple2<StreamStateHandle, Long>> sent = InstantiationUtil.clone(new ArrayList<>(list));
        assertThat(sent).isEqualTo(frames);
        List<Tuple2<StreamStateHandle, Long>> received =
                InstantiationUtil.deserializeObject(
                        InstantiationUtil.serializeObject(list), getClass().getClassLoader());
        assertThat(received).isInstanceOf(FrameList.class).isEqualTo(frames);
        for (int i = 0; i < frames.size(); i++) {
            assertThat(received.get(i).f0.getStateSize())
                    .isEqualTo(frames.get(i).f0.getStateSize());
        }
    }

    /** Even kinds are in the store, those below 6 in the same directory. */
    private static StreamStateHandle segment(int kind) {
        return kind % 2 == 0
                ? new FileStateHandle(
                        new Path(DIRECTORY + (kind < 6 ? "" + kind : "x/" + kind + "-1.seg")),
                        1L << kind)
                : new ByteStreamStateHandle("dstl-inline/" + kind, new byte[kind]);
    }

    @Test
    void pathIsHeldOnce_howeverManyHandlesNameIt() throws Exception {
        byte[] sent = InstantiationUtil.serializeObject(FrameList.of(fileTwice()));
        FrameList first = InstantiationUtil.deserializeObject(sent, getClass().getClassLoader());
        FrameList second = InstantiationUtil.deserializeObject(sent, getClass().getClassLoader());
        assertThat(pathOf(first, 0)).isSameAs(pathOf(first, 1)).isSameAs(pathOf(second, 0));
    }

    /** Flink's registry of shared state rejects the same object twice. */
    @Test
    void segmentIsANewObjectEachTime() {
        List<Tuple2<StreamStateHandle, Long>> files = FrameList.of(fileTwice());
        assertThat(files.get(0).f0).isNotSameAs(files.get(1).f0).isNotSameAs(files.get(0).f0);
        List<Tuple2<StreamStateHandle, Long>> inline =
                FrameList.of(List.of(Tuple2.of(segment(3), 1L)));
        assertThat(inline.get(0).f0).isNotSameAs(inline.get(0).f0);
    }

    @Test
    void takesASeventhOfTheBytesOfFlinksHandles() throws Exception {
        List<Tuple2<StreamStateHandle, Long>> frames = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            Path file = new Path(DIRECTORY + (1_000 + i) + "-1.seg");
            frames.add(Tuple2.of(new FileStateHandle(file, 100_000), 10_000L));
        }
        assertThat(InstantiationUtil.serializeObject(FrameList.of(frames)).length)
                .isLessThan(InstantiationUtil.serializeObject(frames).length / 7)
                .isLessThan(32 * 17);
    }

    @Test
    void segmentsThatOnlyOneProcessKnows_stayAsTheyAre() {
        StreamStateHandle file = segment(0);
        List<Tuple2<StreamStateHandle, Long>> copies =
                List.of(Tuple2.of(new SegmentCopy(file, file, () -> {}), 1L));
        assertThat(FrameList.of(copies)).isSameAs(copies);
    }

    @Test
    void bytesAreThoseOfVersion1() throws Exception {
        byte[] bytes =
                StringUtils.hexStringToByte(
                        "0105" // version, frames
                                + "02000a66696c653a2f642f652f" // new directory, file:/d/e/
                                + "010eac02" // 7-1.seg, 300 bytes
                                + "0c" // offset 12
                                + "008001" // the same segment, offset 128
                                + "03020305" // 5-2.seg there, 5 bytes
                                + "0c"
                                + "0300000178050d" // x there, 5 bytes
                                + "0100016902cafe" // inline: i, 2 bytes
                                + "00");
        FrameList list = FrameListFormat.read(bytes);
        assertThat(list)
                .containsExactly(
                        Tuple2.of(new FileStateHandle(new Path("file:/d/e/7-1.seg"), 300), 12L),
                        Tuple2.of(new FileStateHandle(new Path("file:/d/e/7-1.seg"), 300), 128L),
                        Tuple2.of(new FileStateHandle(new Path("file:/d/e/5-2.seg"), 5), 12L),
                        Tuple2.of(new FileStateHandle(new Path("file:/d/e/x"), 5), 13L),
                        Tuple2.of(
                                new ByteStreamStateHandle(
                                        "i", new byte[] {(byte) 0xca, (byte) 0xfe}),
                                0L));
    }

    /** High availability stores Java's serialized form, so class names must never change. */
    @Test
    void whatHighAvailabilityStoredInVersion1_isRead() throws Exception {
        byte[] stored =
                StringUtils.hexStringToByte(
                        "aced0005737200296465762e6473746c2e6c6f672e7365676d656e74"
                                + "2e4672616d654c6973742453657269616c697a656400000000000000"
                                + "010200015b000562797465737400025b427870757200025b42acf317"
                                + "f8060854e0020000787000000012010102000866696c653a2f642f01"
                                + "0eac020c");
        FrameList list = InstantiationUtil.deserializeObject(stored, getClass().getClassLoader());
        assertThat(list)
                .containsExactly(
                        Tuple2.of(new FileStateHandle(new Path("file:/d/7-1.seg"), 300), 12L));
    }

    @Test
    void unknownVersion_saysWhatToDo() {
        assertThatThrownBy(() -> FrameListFormat.read(new byte[] {2}))
                .hasMessage(
                        "A changelog handle has version 2, and this process knows version 1 only."
                                + " Run the same release of DSTL on JobManager and TaskManagers,"
                                + " and none older than before.");
    }

    private static List<Tuple2<StreamStateHandle, Long>> fileTwice() {
        return List.of(
                Tuple2.of(new FileStateHandle(new Path(DIRECTORY + "1-1.seg"), 10), 1L),
                Tuple2.of(new FileStateHandle(new Path(DIRECTORY + "1-1.seg"), 10), 5L));
    }

    private static Path pathOf(FrameList list, int index) {
        return ((FileStateHandle) list.get(index).f0).getFilePath();
    }
}
