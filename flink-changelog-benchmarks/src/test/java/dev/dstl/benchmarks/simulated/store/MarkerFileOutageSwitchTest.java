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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class MarkerFileOutageSwitchTest {

    @TempDir Path directory;

    private final ManualTime time = new ManualTime();
    private Path marker;
    private OutageSwitch one;
    private OutageSwitch other;

    @BeforeEach
    void createSwitches() {
        marker = directory.resolve("sub").resolve("outage");
        one = new MarkerFileOutageSwitch(marker, time);
        other = new MarkerFileOutageSwitch(marker, time);
    }

    @Test
    void outageBegunThroughOneSwitch_reachesTheOther() throws Exception {
        one.begin(Outage.FAILING);
        assertThat(other.awaitAnswer()).contains(Outage.FAILING);

        one.end();
        assertThat(other.awaitAnswer()).isEmpty();
    }

    @Test
    void hangingOutage_isWaitedFor() throws Exception {
        one.begin(Outage.HANGING);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            Future<Optional<Outage>> admitted = executor.submit(other::awaitAnswer);
            time.awaitSleepers(1);
            assertThat(admitted).isNotDone();

            one.end();
            time.advance(1, TimeUnit.SECONDS);

            assertThat(admitted.get()).isEmpty();
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void endWithoutAnOutage_doesNothing() throws Exception {
        one.end();

        assertThat(one.awaitAnswer()).isEmpty();
    }

    @Test
    void unknownOutage_isNamedWithItsFile() throws IOException {
        Files.createDirectories(marker.getParent());
        Files.write(marker, "BROKEN\n".getBytes(StandardCharsets.US_ASCII));

        assertThatThrownBy(one::awaitAnswer)
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("BROKEN", marker.toString(), "FAILING, HANGING");
    }
}
