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

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of {@code ObjectContent}. */
abstract class ObjectContentContract {

    @TempDir Path directory;

    private ObjectContent content;

    abstract ObjectContent create(Path directory) throws IOException;

    @BeforeEach
    void createContent() throws IOException {
        content = create(directory);
    }

    @Test
    void publish_makesTheWholeObjectVisible() throws IOException {
        publish("a/b", "hello");

        assertThat(content.find("a/b")).get().extracting(StoredObject::length).isEqualTo(5L);
        assertThat(read("a/b", 0)).isEqualTo("hello");
    }

    @Test
    void whatIsOnlyStaged_isNotVisible() throws IOException {
        try (StagedObject staged = content.stage()) {
            staged.write("hello".getBytes(UTF_8), 0, 5);

            assertThat(staged.length()).isEqualTo(5);
            assertThat(content.list("")).isEmpty();
        }
        assertThat(content.list("")).isEmpty();
    }

    @Test
    void publishAgain_replacesTheObject() throws IOException {
        publish("a", "first");
        publish("a", "second one");

        assertThat(read("a", 0)).isEqualTo("second one");
        assertThat(content.list("")).hasSize(1);
    }

    @Test
    void openStream_readsOnAfterTheObjectIsReplacedAndDeleted() throws IOException {
        publish("a", "first");
        try (InputStream open = content.open("a", 0)) {
            publish("a", "other");
            content.delete("a");

            assertThat(new String(open.readAllBytes(), UTF_8)).isEqualTo("first");
        }
    }

    @Test
    void openInTheMiddle_readsTheRest_andNothingFromTheEndOn() throws IOException {
        publish("a", "hello");

        assertThat(read("a", 3)).isEqualTo("lo");
        assertThat(read("a", 5)).isEmpty();
        assertThat(read("a", 7)).isEmpty();
    }

    @Test
    void writeOfAPart_takesThatPartOnly() throws IOException {
        try (StagedObject staged = content.stage()) {
            staged.write("hello".getBytes(UTF_8), 1, 3);
            staged.publish("a");
        }

        assertThat(read("a", 0)).isEqualTo("ell");
    }

    @Test
    void missingObject_isNeitherFoundNorOpenedNorDeleted() throws IOException {
        publish("a/b", "hello");

        for (String missing : new String[] {"x", "a", "a/b/c"}) {
            assertThat(content.find(missing)).isEmpty();
            assertThat(content.delete(missing)).isFalse();
            assertThatThrownBy(() -> content.open(missing, 0))
                    .isInstanceOf(FileNotFoundException.class)
                    .hasMessageContaining(missing);
        }
    }

    @Test
    void delete_removesOneObject() throws IOException {
        publish("a/b", "1");
        publish("a/c", "2");

        assertThat(content.delete("a/b")).isTrue();

        assertThat(keys("")).isEqualTo("a/c");
    }

    @Test
    void list_isByPrefixOfTheKeyAndInItsOrder() throws IOException {
        publish("b", "1");
        publish("a/y", "2");
        publish("a/x/z", "3");
        publish("ab", "4");

        assertThat(keys("")).isEqualTo("a/x/z a/y ab b");
        assertThat(keys("a")).isEqualTo("a/x/z a/y ab");
        assertThat(keys("a/")).isEqualTo("a/x/z a/y");
        assertThat(keys("a/x")).isEqualTo("a/x/z");
        assertThat(keys("none/")).isEmpty();
    }

    private void publish(String key, String text) throws IOException {
        try (StagedObject staged = content.stage()) {
            byte[] bytes = text.getBytes(UTF_8);
            staged.write(bytes, 0, bytes.length);
            staged.publish(key);
        }
    }

    private String read(String key, long from) throws IOException {
        try (InputStream open = content.open(key, from)) {
            return new String(open.readAllBytes(), UTF_8);
        }
    }

    private String keys(String prefix) throws IOException {
        return content.list(prefix).stream()
                .map(StoredObject::key)
                .collect(Collectors.joining(" "));
    }
}
