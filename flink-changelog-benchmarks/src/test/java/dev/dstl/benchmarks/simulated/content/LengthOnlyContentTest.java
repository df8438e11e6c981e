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

package dev.dstl.benchmarks.simulated.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class LengthOnlyContentTest {

    private final LengthOnlyContent content = new LengthOnlyContent();

    @Test
    void namesAndLengths_areKept() throws IOException {
        publish("a/x", 3);
        publish("a/y", 4);
        publish("b", 5);

        assertThat(content.find("a/y")).get().extracting(StoredObject::length).isEqualTo(4L);
        assertThat(content.list("a/")).extracting(StoredObject::key).containsExactly("a/x", "a/y");
        assertThat(content.delete("a/x")).isTrue();
        assertThat(content.delete("a/x")).isFalse();
        assertThat(content.list("")).extracting(StoredObject::key).containsExactly("a/y", "b");
    }

    @Test
    void read_saysWhyItCannot() throws IOException {
        publish("a", 3);

        assertThatThrownBy(() -> content.open("a", 0))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Only the length");
    }

    private void publish(String key, int length) throws IOException {
        try (StagedObject staged = content.stage()) {
            staged.write(new byte[length], 0, length);
            staged.publish(key);
        }
    }
}
