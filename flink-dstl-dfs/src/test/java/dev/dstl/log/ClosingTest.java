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

package dev.dstl.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosingTest {

    private final List<String> closed = new ArrayList<>();

    @Test
    void everyStepRuns_whateverOthersThrow_andTheFirstFailureIsThrown() {
        Error noThread = new OutOfMemoryError("unable to create native thread");
        RuntimeException second = new IllegalStateException("second");

        assertThatThrownBy(
                        () ->
                                Closing.all(
                                        List.of(
                                                () -> closed.add("first"),
                                                () -> {
                                                    throw noThread;
                                                },
                                                () -> closed.add("third"),
                                                () -> {
                                                    throw second;
                                                },
                                                () -> closed.add("last"))))
                .isSameAs(noThread)
                .hasSuppressedException(second);
        assertThat(closed).containsExactly("first", "third", "last");
    }

    @Test
    void withoutAFailure_nothingIsThrown() {
        Closing.all(List.of(() -> closed.add("only")));
        assertThat(closed).containsExactly("only");
    }
}
