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
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DirectoryContentTest extends ObjectContentContract {

    @Override
    ObjectContent create(Path directory) throws IOException {
        return new DirectoryContent(directory.resolve("objects"), directory.resolve("staging"));
    }

    @Test
    void twoContentsOnOneDirectory_seeTheSameObjects() throws IOException {
        try (StagedObject staged = create(directory).stage()) {
            staged.publish("a/b");
        }

        assertThat(create(directory).find("a/b")).isPresent();
    }

    @Test
    void closeWithoutPublish_leavesNoFile() throws IOException {
        create(directory).stage().close();

        assertThat(directory.resolve("staging")).isEmptyDirectory();
    }

    @Test
    void keyThatLeadsOutOfTheDirectory_isRefused() throws IOException {
        ObjectContent content = create(directory);

        assertThatThrownBy(() -> content.find("../staging/x"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("../staging/x");
    }
}
