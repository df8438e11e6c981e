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

package dev.dstl.log.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.testing.FailingLog;
import dev.dstl.log.testing.LogLines;
import org.junit.jupiter.api.Test;

class ErrorLogTest {

    private final Throwable failure = new IllegalStateException("refused by the test");
    private final ErrorLog log = new ErrorLog(ErrorLogTest.class);

    @Test
    void error_isLogged() {
        try (LogLines lines = new LogLines()) {
            log.error("It failed.", failure);
            log.error("{} failed.", "Something", failure);
            assertThat(lines.containing("failed"))
                    .containsExactly("ERROR It failed.", "ERROR Something failed.");
        }
    }

    @Test
    void errorThatCannotBeLogged_isDropped() {
        try (FailingLog failing = new FailingLog()) {
            log.error("It failed.", failure);
            log.error("{} failed.", "Something", failure);
            assertThat(failing.refused()).isEqualTo(2);
        }
    }

    @Test
    void subjectThatCannotBeDescribed_doesNotThrow() {
        log.error("{} failed.", new Undescribable(), failure);
    }

    private static final class Undescribable {

        @Override
        public String toString() {
            throw new OutOfMemoryError("Java heap space");
        }
    }
}
