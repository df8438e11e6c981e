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

package dev.dstl.tool.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class StateFileNamesTest {

    private static final String NAME = "0b8d9c1e-6f2a-4c3b-9d10-aabbccddeeff";

    @RepeatedTest(50)
    void everyNameIsFound_whateverStandsAroundIt_andHoweverItIsRead(RepetitionInfo repetition)
            throws IOException {
        Random random = new Random(repetition.getCurrentRepetition());
        Set<UUID> written = new HashSet<>();
        ByteArrayOutputStream metadata = new ByteArrayOutputStream();
        for (int i = 0; i < 200; i++) {
            metadata.write(text(random, random.nextInt(50)));
            UUID name = new UUID(random.nextLong(), random.nextLong());
            written.add(name);
            metadata.write(name.toString().getBytes(StandardCharsets.US_ASCII));
        }

        Set<UUID> found = new HashSet<>();
        readInParts(
                new StateFileNames(new ByteArrayInputStream(metadata.toByteArray()), found),
                random);

        assertThat(found).as("names").containsAll(written);
    }

    /** Text of the characters of names, so that some of it is right before or after a name. */
    private static byte[] text(Random random, int length) {
        byte[] text = new byte[length];
        for (int i = 0; i < length; i++) {
            text[i] = (byte) "0123456789abcdef--/\u0000".charAt(random.nextInt(20));
        }
        return text;
    }

    private static void readInParts(InputStream in, Random random) throws IOException {
        while (true) {
            switch (random.nextInt(3)) {
                case 0:
                    if (in.read() < 0) {
                        return;
                    }
                    break;
                case 1:
                    byte[] part = new byte[1 + random.nextInt(100)];
                    if (in.read(part, 0, part.length) < 0) {
                        return;
                    }
                    break;
                default:
                    in.skip(random.nextInt(100));
                    break;
            }
        }
    }

    @Test
    void onlyWhatFlinkNamesAStateFile_isAName() {
        assertThat(StateFileNames.of(NAME)).contains(UUID.fromString(NAME));
        assertThat(StateFileNames.of("_metadata")).isEmpty();
        assertThat(StateFileNames.of("000012.sst")).isEmpty();
        assertThat(StateFileNames.of("1-1-1-1-1")).isEmpty();
        assertThat(StateFileNames.of(NAME + ".tmp")).isEmpty();
    }
}
