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
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class FailureReportTest {

    @Test
    void reportThatRunsOutOfMemory_isSentOnceThereIsEnough() {
        AtomicInteger tries = new AtomicInteger();
        FailureReport.send(
                () -> {
                    if (tries.incrementAndGet() < 3) {
                        throw new OutOfMemoryError("for a test");
                    }
                });
        assertThat(tries).hasValue(3);
    }

    @Test
    void reportThatFails_isNotRepeated() {
        AtomicInteger tries = new AtomicInteger();
        assertThatThrownBy(
                        () ->
                                FailureReport.send(
                                        () -> {
                                            tries.incrementAndGet();
                                            throw new IllegalStateException("for a test");
                                        }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(tries).hasValue(1);
    }
}
