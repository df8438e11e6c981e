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

package dev.dstl.benchmarks.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class StackTraceSummaryTest {

    @Test
    void causeBelowAllCauses_comesFirst() {
        Exception thrown =
                new IllegalStateException(
                        "outer",
                        new RuntimeException("middle", new ArithmeticException("the reason")));

        assertThat(StackTraceSummary.of(thrown))
                .isEqualTo(
                        "java.lang.ArithmeticException: the reason\n"
                                + "  in: java.lang.RuntimeException: middle\n"
                                + "  in: java.lang.IllegalStateException: outer");
    }

    @Test
    void wrapperThatOnlyRepeatsItsCause_isLeftOut() {
        Exception thrown = new ExecutionException(new ArithmeticException("the reason"));

        assertThat(StackTraceSummary.of(thrown))
                .isEqualTo("java.lang.ArithmeticException: the reason");
    }

    @Test
    void exceptionWithoutCause_isItself() {
        assertThat(StackTraceSummary.of(new IllegalStateException("alone")))
                .isEqualTo("java.lang.IllegalStateException: alone");
    }

    @Test
    void wrappingOfTheRestServer_isLeftOut() {
        assertThat(
                        StackTraceSummary.of(
                                "org.apache.flink.RestClientException: [Internal server error.,"
                                        + " <Exception on server side:\n"
                                        + "a.b.JobSubmissionException: no such path\n"
                                        + "\tat a.b.C.d(C.java:1)\n"))
                .isEqualTo("a.b.JobSubmissionException: no such path");
    }

    @Test
    void emptyTrace_saysSo() {
        assertThat(StackTraceSummary.of("")).isEqualTo("(no message)");
    }
}
