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

package dev.dstl.log.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Locale;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;

class SegmentNameTest {

    @Property(tries = 200)
    void nameIsReadBackFromItsFile(
            @ForAll long jobHigh,
            @ForAll long jobLow,
            @ForAll @LongRange(min = 0, max = 9_999_999_999_999L) long createdEpochMillis,
            @ForAll long random,
            @ForAll @LongRange(min = 0, max = 999_999_999_999L) long sequence,
            @ForAll @IntRange(min = 1, max = 999_999_999) int attempt) {
        SegmentName name =
                new SegmentName(
                        new JobID(jobHigh, jobLow),
                        SegmentName.incarnation(createdEpochMillis, random),
                        sequence,
                        attempt);
        assertThat(SegmentName.of(name.below(new Path("s3://bucket/changelog")))).contains(name);
    }

    @Test
    void fileLiesBelowJobAndIncarnation() {
        SegmentName name =
                new SegmentName(
                        new JobID(1, 2), SegmentName.incarnation(1_763_640_000_000L, 0xACL), 42, 1);
        assertThat(name.below(new Path("s3://bucket/changelog")))
                .hasToString(
                        "s3://bucket/changelog/"
                                + new JobID(1, 2)
                                + "/dstl/00000000000000ac-1763640000000/42-1.seg");
    }

    @Test
    void nameThatBeginsWithTheTime_isStillRead() {
        String job = new JobID(1, 2).toHexString();
        Path writer = new Path("s3://b/" + job + "/dstl/1763640000000-9876543210987654");
        assertThat(SegmentName.of(new Path(writer, "0000000042-3.seg")))
                .contains(
                        new SegmentName(new JobID(1, 2), "1763640000000-9876543210987654", 42, 3));
        assertThat(SegmentName.createdEpochMillis(writer)).hasValue(1_763_640_000_000L);
    }

    /** Object stores that partition names by prefix can then spread the writers. */
    @Test
    void directoryOfAWriter_beginsAtRandom_andTellsWhenTheWriterBegan() {
        String incarnation = SegmentName.incarnation(1_763_640_000_000L, 0x9876543210987654L);
        Path writer = SegmentName.directory(new Path("s3://b"), new JobID(1, 2), incarnation);
        assertThat(writer.getName()).isEqualTo("9876543210987654-1763640000000");
        assertThat(SegmentName.createdEpochMillis(writer)).hasValue(1_763_640_000_000L);
    }

    @Test
    void foreignFile_hasNoName() {
        assertThat(SegmentName.of(new Path("s3://bucket/changelog/_metadata"))).isEmpty();
        assertThat(SegmentName.of(new Path("s3://b/" + new JobID() + "/dstl/builtin-uuid")))
                .isEmpty();
    }

    @Test
    void nameWithAttemptZero_isOfAForeignFile() {
        String writer = SegmentName.incarnation(1_763_640_000_000L, 1);
        Path directory = SegmentName.directory(new Path("s3://b"), new JobID(1, 2), writer);
        assertThat(SegmentName.of(new Path(directory, "1-0.seg"))).isEmpty();
    }

    /** Formats of Arabic locales have other digits. */
    @Test
    void nameIsTheSameInEveryLocale() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            assertThat(SegmentName.incarnation(1_763_640_000_000L, 0x9876543210987654L))
                    .isEqualTo("9876543210987654-1763640000000");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void attemptsAreCountedFromOne() {
        assertThatThrownBy(() -> new SegmentName(new JobID(), "0", 0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Sequence must be >= 0 and attempt >= 1, found 0, 0");
    }
}
