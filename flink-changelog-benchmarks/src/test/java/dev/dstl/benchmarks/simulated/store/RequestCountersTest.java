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

package dev.dstl.benchmarks.simulated.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequestCountersTest {

    @TempDir Path directory;

    @Test
    void sumOf_addsUpTheFilesOfAllProcesses() throws IOException {
        RequestCounters first = RequestCounters.mapped(directory, "first");
        RequestCounters second = RequestCounters.mapped(directory, "second");
        first.countRequest(RequestType.PUT);
        second.countRequest(RequestType.PUT);
        second.countFailure(RequestType.PUT);
        second.countBytesWritten(1L << 40);
        second.countBytesRead(5);

        RequestCounts sum = RequestCounters.sumOf(directory);

        assertThat(sum).isEqualTo(first.counts().plus(second.counts()));
        assertThat(sum.requests(RequestType.PUT)).isEqualTo(2);
        assertThat(sum.failures(RequestType.PUT)).isEqualTo(1);
        assertThat(sum.bytesWritten()).isEqualTo(1L << 40);
        assertThat(sum.bytesRead()).isEqualTo(5);
    }

    @Test
    void directoryNobodyCountedInto_hasNoRequests() throws IOException {
        assertThat(RequestCounters.sumOf(directory.resolve("missing")))
                .isEqualTo(RequestCounts.none());
    }

    @Test
    void countsOfManyThreads_loseNothing() {
        RequestCounters counters = RequestCounters.inMemory();

        IntStream.range(0, 100_000)
                .parallel()
                .forEach(i -> counters.countRequest(RequestType.DELETE));

        assertThat(counters.counts().requests(RequestType.DELETE)).isEqualTo(100_000);
    }

    @Test
    void foreignFileAmongTheCounters_isNamed() throws IOException {
        RequestCounters.mapped(directory, "good");
        Files.write(directory.resolve("short.counts"), new byte[3]);

        assertThatThrownBy(() -> RequestCounters.sumOf(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("short.counts", "3 bytes", "expected 104");
    }

    @Test
    void fileOfTheRightLengthThatIsNoCounterFile_isNamed() throws IOException {
        byte[] foreign = new byte[104];
        foreign[0] = 1;
        Files.write(directory.resolve("foreign.counts"), foreign);

        assertThatThrownBy(() -> RequestCounters.sumOf(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("foreign.counts");
    }
}
