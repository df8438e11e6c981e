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

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of a process with several changelogs. */
class OpenLogsTest {

    private final OpenLogs logs = new OpenLogs();
    private final Log failing = new Log(true);
    private final Log other = new Log(false);

    @AfterEach
    void remove() {
        logs.remove(failing);
        logs.remove(other);
    }

    @Test
    void changelogThatFailsToClose_keepsNoOtherOneOpen() throws Exception {
        logs.add(failing);
        logs.add(other);

        logs.closeAll(20);

        assertThat(other.closed).isTrue();
        assertThat(other.interrupted).as("has not ended in time").isTrue();
    }

    private static final class Log implements OpenLogs.OpenLog {

        private final boolean fails;
        private boolean closed;
        private boolean interrupted;

        private Log(boolean fails) {
            this.fails = fails;
        }

        private void fail() {
            if (fails) {
                throw new IllegalStateException("this one fails");
            }
        }

        @Override
        public void close() {
            fail();
            closed = true;
        }

        @Override
        public void interruptUploads() {
            fail();
            interrupted = true;
        }

        @Override
        public CompletableFuture<Void> ended() {
            return new CompletableFuture<>();
        }
    }
}
