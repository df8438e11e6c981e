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

package dev.dstl.spillable.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Thousands of keys of two hashes, as if somebody had chosen them. */
class EqualHashesTest extends PartitionFixture {

    @Override
    int hashOf(byte[] key) {
        return key.length % 2 == 0 ? 0xABCD_EF01 : -1;
    }

    @Test
    void areAllFound() throws IOException {
        Map<String, byte[]> entries = new HashMap<>();
        for (int i = 0; i < 3000; i++) {
            byte[] value = new byte[i % 40];
            Arrays.fill(value, (byte) i);
            entries.put("key " + i, value);
        }
        SealedPartition partition = write(entries);

        entries.forEach((key, value) -> assertThat(get(partition, key)).isEqualTo(value));
        assertThat(get(partition, "absent")).isNull();
        assertThat(get(partition, "absent 1")).isNull();
    }
}
