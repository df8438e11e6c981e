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

package dev.dstl.changelog.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.changelog.sorting.ReplayOrder;
import dev.dstl.changelog.sorting.SortingCursor;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import dev.dstl.log.testing.UnstartableThread;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReplayReaderTest {

    /** How many threads cannot be started before one can. */
    private final AtomicInteger unstartable = new AtomicInteger();

    private final ReplayReader reader =
            new ReplayReader(
                    work ->
                            unstartable.getAndDecrement() > 0
                                    ? new UnstartableThread(work)
                                    : new Thread(work),
                    1);

    @AfterEach
    void close() {
        reader.close();
    }

    private static SortingCursor changelog(int payload) throws IOException {
        InMemoryChangelogWriter log = new InMemoryChangelogWriter();
        log.append(RecordKind.META, -1, 1, new byte[] {(byte) payload}, 0, 0, 1);
        return new SortingCursor(
                log.open(),
                KeyGroupRange.of(0, 7),
                ReplayOrder.BY_KEY,
                any -> false,
                LoggedJob.UNLIMITED,
                Runnable::run);
    }

    private static int payload(SortingCursor changelog) throws IOException {
        LogRecord record = new LogRecord();
        assertThat(changelog.next(record)).isTrue();
        return record.buffer()[record.payloadOffset()];
    }

    @Test
    void changelogsForWhichThereIsNoThread_areReadOnceThereIs() throws IOException {
        unstartable.set(4);
        SortingCursor first = changelog(1);
        SortingCursor second = changelog(2);
        reader.read(first);
        reader.read(second);

        reader.require();

        assertThat(payload(first)).isEqualTo(1);
        assertThat(payload(second)).isEqualTo(2);
    }

    @Test
    void withoutAThreadForLong_theRestoreFails() throws IOException {
        unstartable.set(Integer.MAX_VALUE);
        reader.read(changelog(1));

        assertThatThrownBy(reader::require)
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("unable to create native thread");
    }

    @Test
    void aCancelledTask_doesNotWaitForAThread() throws IOException {
        unstartable.set(Integer.MAX_VALUE);
        reader.read(changelog(1));
        Thread.currentThread().interrupt();

        assertThatThrownBy(reader::require).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
    }
}
